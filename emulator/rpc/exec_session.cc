#include "emulator/rpc/exec_session.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "emulator/rpc/convert.h"
#include "emulator/rpc/pod_target.h"
#include "emulator/rpc/status.h"

namespace tfemu::rpc {
namespace {

constexpr size_t kMaxQueued = 4;

Error OsError(const char* what) {
  return Error{Reason::kUnavailable, std::string(what) + ": " + std::strerror(errno)};
}

UniqueFd Duplicate(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

Result<void> Pipe(UniqueFd& read_end, UniqueFd& write_end) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return OsError("pipe");
  read_end.Reset(ends[0]);
  write_end.Reset(ends[1]);
  return {};
}

}  // namespace

void ExecSession::Received(const v1::ExecInput& input) {
  if (!started_) {
    started_ = true;
    const auto started = input.has_start()
                             ? Start(input.start())
                             : Result<void>(Error{Reason::kBadRequest, "an exec begins with its start"});
    if (!started.ok()) out_->Finish(ToStatus(started.error()));
    else out_->ReadNext();
    return;
  }
  if (input.input_case() == v1::ExecInput::kStdin) {
    WriteInput(input.stdin());
    return;
  }
  if (input.input_case() == v1::ExecInput::kStdinClosed) CloseInput();
  if (input.input_case() == v1::ExecInput::kSize) Resize(input.size());
  out_->ReadNext();
}

void ExecSession::PeerDone() {
  if (!started_) out_->Finish(ToStatus(Error{Reason::kBadRequest, "an exec begins with its start"}));
  else CloseInput();
}

Result<void> ExecSession::Start(const v1::ExecInput::Start& start) {
  ASSIGN_OR_RETURN(const auto pod, RunningPod(backend_.registry, FromMessage(start.pod())));
  runtime::ExecLaunch launch;
  ASSIGN_OR_RETURN(launch.container, RunningContainer(pod, start.container()));
  launch.argv.assign(start.command().begin(), start.command().end());
  if (launch.argv.empty()) return Error{Reason::kBadRequest, "no command to execute"};
  launch.tty = terminal_ = start.tty();
  RETURN_IF_ERROR(terminal_ ? OpenTerminal(start.size(), launch) : OpenPipes(start.stdin(), launch));
  backend_.access.Exec(pod.uid, std::move(launch),
                       [self = shared_from_this()](const Result<int>& code) { self->Exited(code); });
  Read(0);
  if (!terminal_) Read(1);
  return {};
}

Result<void> ExecSession::OpenTerminal(const v1::ExecInput::Size& size, runtime::ExecLaunch& launch) {
  UniqueFd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char name[128];
  if (!master.valid() || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0 ||
      ::ptsname_r(master.get(), name, sizeof name) != 0)
    return OsError("cannot make a terminal");
  UniqueFd slave(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!slave.valid()) return OsError("cannot open a terminal");
  for (auto& fd : launch.stdio) fd = Duplicate(slave.get());
  stdin_.assign(Duplicate(master.get()).Release());
  outputs_[0].descriptor.assign(master.Release());
  Resize(size);
  return {};
}

Result<void> ExecSession::OpenPipes(bool with_stdin, runtime::ExecLaunch& launch) {
  UniqueFd ours;
  if (with_stdin) {
    RETURN_IF_ERROR(Pipe(launch.stdio[0], ours));
    stdin_.assign(ours.Release());
  } else {
    launch.stdio[0].Reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  for (size_t i = 0; i < 2; ++i) {
    RETURN_IF_ERROR(Pipe(ours, launch.stdio[i + 1]));
    outputs_[i].descriptor.assign(ours.Release());
    outputs_[i].descriptor.non_blocking(true);
  }
  return {};
}

// The next input is asked for when this one is written: a slow reader slows the client.
void ExecSession::WriteInput(std::string bytes) {
  input_ = std::move(bytes);
  if (!stdin_.is_open()) {
    out_->ReadNext();
    return;
  }
  boost::asio::async_write(stdin_, boost::asio::buffer(input_),
                           [self = shared_from_this()](const boost::system::error_code& error, size_t) {
                             boost::system::error_code ignored;
                             if (error) self->stdin_.close(ignored);
                             if (self->out_ != nullptr) self->out_->ReadNext();
                           });
}

// A terminal has no end of its own: the end-of-file character stands for it.
void ExecSession::CloseInput() {
  if (!stdin_.is_open()) return;
  boost::system::error_code ignored;
  if (terminal_) stdin_.write_some(boost::asio::buffer("\x04", 1), ignored);
  else stdin_.close(ignored);
}

void ExecSession::Resize(const v1::ExecInput::Size& size) {
  if (!stdin_.is_open() || size.rows() <= 0 || size.columns() <= 0) return;
  winsize window{};
  window.ws_row = static_cast<unsigned short>(size.rows());
  window.ws_col = static_cast<unsigned short>(size.columns());
  ::ioctl(stdin_.native_handle(), TIOCSWINSZ, &window);
}

void ExecSession::Read(size_t which) {
  Output& output = outputs_[which];
  if (output.reading || !output.descriptor.is_open() || out_ == nullptr || out_->Queued() >= kMaxQueued)
    return;
  output.reading = true;
  output.descriptor.async_read_some(
      boost::asio::buffer(output.buffer),
      [self = shared_from_this(), which](const boost::system::error_code& error, size_t size) {
        self->outputs_[which].reading = false;
        if (self->out_ == nullptr) return;
        if (size > 0) self->Send(which, size);
        boost::system::error_code ignored;
        if (error) self->outputs_[which].descriptor.close(ignored);
        else self->Read(which);
      });
}

void ExecSession::Drained() {
  Read(0);
  if (!terminal_) Read(1);
}

void ExecSession::Send(size_t which, size_t size) {
  v1::ExecOutput message;
  std::string bytes(outputs_[which].buffer.data(), size);
  if (which == 0) message.set_stdout(std::move(bytes));
  else message.set_stderr(std::move(bytes));
  out_->Write(std::move(message));
}

// What the command wrote is in the pipes by now. Processes it left behind may hold them open: they are not
// waited for.
void ExecSession::Exited(const Result<int>& code) {
  if (out_ == nullptr) return;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Output& output = outputs_[i];
    if (!output.descriptor.is_open()) continue;
    output.descriptor.non_blocking(true);
    boost::system::error_code error;
    for (size_t size; (size = output.descriptor.read_some(boost::asio::buffer(output.buffer), error)) > 0;)
      Send(i, size);
  }
  if (!code.ok()) {
    out_->Finish(ToStatus(code.error()));
    return;
  }
  v1::ExecOutput message;
  message.set_exit_code(code.value());
  out_->Write(std::move(message));
  out_->Finish(grpc::Status::OK);
}

void ExecSession::Closed() {
  out_ = nullptr;
  boost::system::error_code ignored;
  stdin_.close(ignored);
  for (auto& output : outputs_) output.descriptor.close(ignored);
}

}  // namespace tfemu::rpc
