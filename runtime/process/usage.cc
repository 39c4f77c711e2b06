#include "runtime/process/usage.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "emulator/base/strings.h"

namespace tfemu::process {
namespace {

namespace fs = std::filesystem;

std::string NamespaceOf(const std::string& pid) {
  std::error_code error;
  return fs::read_symlink("/proc/" + pid + "/ns/pid", error).string();
}

// utime, stime and rss are the 14th, 15th and 24th field; the second one may have blanks and parentheses.
std::optional<Usage> ReadStat(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) rest >> skipped;
  int64_t user = 0, system = 0, pages = 0;
  rest >> user >> system;
  for (int i = 16; i < 24; ++i) rest >> skipped;
  if (!(rest >> pages)) return std::nullopt;
  static const int64_t kTick = 1'000'000'000 / ::sysconf(_SC_CLK_TCK), kPage = ::sysconf(_SC_PAGESIZE);
  return Usage{(user + system) * kTick, pages * kPage};
}

}  // namespace

std::map<int, Usage> ReadUsage(const std::vector<int>& pids) {
  std::map<std::string, int> namespaces;
  for (const int pid : pids)
    if (std::string name = NamespaceOf(std::to_string(pid)); !name.empty()) namespaces[std::move(name)] = pid;
  std::map<int, Usage> usages;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string pid = entry.path().filename().string();
    if (!ParseInt(pid)) continue;
    const auto found = namespaces.find(NamespaceOf(pid));
    if (found == namespaces.end()) continue;
    if (const auto stat = ReadStat(pid)) {
      usages[found->second].cpu_ns += stat->cpu_ns;
      usages[found->second].memory_bytes += stat->memory_bytes;
    }
  }
  return usages;
}

}  // namespace tfemu::process
