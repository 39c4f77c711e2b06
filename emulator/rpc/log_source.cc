#include "emulator/rpc/log_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/log_format.h"

namespace tfemu::rpc {
namespace {

constexpr size_t kPiece = 256u << 10;

}  // namespace

std::string LogSource::path() const {
  return runtime::LogPath(file_.state_folder, file_.ns, file_.pod, file_.uid, file_.container, file_.attempt);
}

bool LogSource::Open() {
  if (!fd_.valid()) fd_.Reset(::open(path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return fd_.valid();
}

void LogSource::SkipToTail(int64_t lines) {
  const off_t size = ::lseek(fd_.get(), 0, SEEK_END);
  if (size < 0) return;
  if (lines <= 0) return;
  TailFinder finder(lines);
  std::string block;
  const auto first = static_cast<uint64_t>(std::max<off_t>(::lseek(fd_.get(), 0, SEEK_DATA), 0));
  for (auto end = static_cast<uint64_t>(size); end > first;) {
    const uint64_t begin = end > kPiece + first ? end - kPiece : first;
    block.resize(end - begin);
    const ssize_t got = ::pread(fd_.get(), block.data(), block.size(), static_cast<off_t>(begin));
    if (got != static_cast<ssize_t>(block.size()) || finder.FeedBackwards(block, begin)) break;
    end = begin;
  }
  ::lseek(fd_.get(), static_cast<off_t>(finder.offset()), SEEK_SET);
}

bool LogSource::Read(std::string& out) {
  if (!fd_.valid()) return false;
  SkipHole(out);
  std::string piece(kPiece, '\0');
  const ssize_t got = ::read(fd_.get(), piece.data(), piece.size());
  if (got <= 0) return false;
  joiner_.Feed(std::string_view(piece).substr(0, static_cast<size_t>(got)), out);
  return true;
}

void LogSource::SkipHole(std::string& out) {
  const off_t here = ::lseek(fd_.get(), 0, SEEK_CUR);
  const off_t data = ::lseek(fd_.get(), here, SEEK_DATA);  // moves only to what is there
  if (data > here) joiner_.Gap(static_cast<uint64_t>(data - here), out);
}

void LogSource::NextAttempt() {
  ++file_.attempt;
  fd_.Reset();
  joiner_ = LogJoiner(options_);
}

}  // namespace tfemu::rpc
