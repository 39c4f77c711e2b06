#include "runtime/supervisor/termination_message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "emulator/base/strings.h"
#include "emulator/base/unique_fd.h"
#include "runtime/log_format.h"

namespace tfemu::supervisor {
namespace {

constexpr off_t kMostOfFile = 4096;
constexpr size_t kMostOfLog = 2048, kMostLines = 80;
constexpr off_t kLogWindow = 64 * 1024;  // stamps come on top of what counts

// A container may have put anything in place of its file; it must not make us wait.
std::string TailOf(const std::string& path, off_t most) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) || !S_ISREG(status.st_mode)) return "";
  const off_t size = std::min(status.st_size, most);
  std::string text(static_cast<size_t>(size), '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), status.st_size - size);
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

std::string LogTail(const std::string& path) {
  const std::string text = TailOf(path, kLogWindow);
  const std::vector<std::string> lines = Split(text, '\n');
  std::string said;
  for (size_t i = lines.size() > kMostLines + 1 ? lines.size() - kMostLines - 1 : 0; i < lines.size(); ++i) {
    runtime::LogRecord record;
    if (!runtime::ParseLogRecord(lines[i], record)) continue;  // the first may be cut
    said += record.bytes;
    if (!record.partial) said += '\n';
  }
  return said.size() > kMostOfLog ? said.substr(said.size() - kMostOfLog) : said;
}

}  // namespace

std::string TerminationMessage(const std::string& file, const std::string& log) {
  std::string message = file.empty() ? "" : TailOf(file, kMostOfFile);
  if (message.empty() && !log.empty()) message = LogTail(log);
  return message;
}

}  // namespace tfemu::supervisor
