#include "runtime/supervisor/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "runtime/process/files.h"
#include "runtime/process/system_error.h"

namespace tfemu::supervisor {
namespace {

constexpr size_t kChunk = 64 << 10;  // a pipe's capacity

// A record without its bytes and '\n'.
std::string Prefix(Instant at, runtime::Stream stream, bool partial) {
  std::string prefix;
  runtime::AppendLogRecord(prefix, {at, stream, partial, {}});
  prefix.pop_back();
  return prefix;
}

}  // namespace

LogFile::LogFile(std::string path, const Executor& clock, Report report, int64_t limit)
    : path_(std::move(path)), clock_(clock), report_(std::move(report)), limit_(limit) {}

Result<void> LogFile::Open() {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  fd_.Reset(::open(path_.c_str(), kFlags, 0640));
  if (!fd_.valid() && errno == ENOENT) {
    RETURN_IF_ERROR(process::MakeFolders(process::ParentFolder(path_)));
    fd_.Reset(::open(path_.c_str(), kFlags, 0640));
  }
  if (!fd_.valid()) return process::SystemError("open the log " + path_);
  struct stat status {};
  ::fstat(fd_.get(), &status);
  size_ = status.st_size;
  return {};
}

void LogFile::Append(runtime::Stream stream, std::string_view bytes) {
  const Instant now = clock_.Now();  // what came together came at the same time
  const std::string whole = Prefix(now, stream, false);
  std::string records;
  records.reserve(bytes.size() + 2 * whole.size());
  if (lost_) {
    records = Prefix(now, runtime::Stream::kStderr, false);
    records +=
        "tfemu: " + std::to_string(lost_) + " bytes of output were lost here: the log could not be written\n";
  }
  for (size_t begin = 0; begin < bytes.size();) {
    const size_t end = bytes.find('\n', begin);
    const bool partial = end == std::string_view::npos;
    records += partial ? Prefix(now, stream, true) : whole;
    records += bytes.substr(begin, partial ? end : end - begin);
    records += '\n';
    begin = partial ? bytes.size() : end + 1;
  }
  Write(records, bytes.size());
}

void LogFile::Write(const std::string& records, size_t payload) {
  for (size_t done = 0; done < records.size();) {
    const ssize_t wrote = ::write(fd_.get(), records.data() + done, records.size() - done);
    if (wrote > 0) {
      done += static_cast<size_t>(wrote);
      continue;
    }
    if (wrote < 0 && errno == EINTR) continue;
    if (!std::exchange(reported_, true))
      report_("output is being lost: " + process::SystemError("write " + path_).message);
    lost_ += payload;
    (void)!::ftruncate(fd_.get(), size_);  // no torn record; if even this fails, the reader skips it
    return;
  }
  size_ += static_cast<int64_t>(records.size());
  lost_ = 0;
  if (size_ - hole_ > limit_) GiveBack();
}

void LogFile::GiveBack() {
  constexpr int64_t kPage = 4096;
  hole_ = (size_ - limit_ / 2) / kPage * kPage;
  const int failed = ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, hole_);
  if (std::exchange(reported_hole_, true)) return;
  report_(failed != 0 ? "its log grows without bound: " + process::SystemError("fallocate " + path_).message
                      : "its log is larger than " + std::to_string(limit_ >> 20) +
                            " MiB: older output is given up from now on");
}

void LogPump::Start(boost::asio::io_context& context, UniqueFd standard_output, UniqueFd standard_error) {
  UniqueFd pipes[2] = {std::move(standard_output), std::move(standard_error)};
  for (int i = 0; i < 2; ++i) {
    ::fcntl(pipes[i].get(), F_SETFL, O_NONBLOCK);
    sources_[i].stream = i == 0 ? runtime::Stream::kStdout : runtime::Stream::kStderr;
    sources_[i].pipe = process::FdWatch(context, std::move(pipes[i]));
    Watch(sources_[i]);
  }
}

void LogPump::Watch(Source& source) {
  source.pipe.WaitReadable([this, &source] {
    if (ReadOnce(source)) Watch(source);
  });
}

bool LogPump::ReadOnce(Source& source) {
  if (!source.pipe.valid()) return false;
  char buffer[kChunk];
  const ssize_t got = ::read(source.pipe.fd(), buffer, sizeof buffer);
  if (got > 0) {
    file_.Append(source.stream, {buffer, static_cast<size_t>(got)});
    return true;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  source.pipe.Close();  // all writers are gone
  return false;
}

void LogPump::Finish() {
  for (auto& source : sources_) {
    while (source.pipe.valid()) {
      char probe[kChunk];
      const ssize_t got = ::read(source.pipe.fd(), probe, sizeof probe);
      if (got > 0) file_.Append(source.stream, {probe, static_cast<size_t>(got)});
      if (got > 0 || (got < 0 && errno == EINTR)) continue;
      source.pipe.Close();
    }
  }
}

}  // namespace tfemu::supervisor
