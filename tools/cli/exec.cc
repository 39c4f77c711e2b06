// tfemu exec.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "emulator/rpc/client.h"
#include "tools/cli/objects.h"
#include "tools/cli/pod_pick.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

struct Options {
  std::string target, container;
  std::vector<std::string> command;
  bool stdin_open = false, tty = false;
};

// The user's terminal passes every key on while this lives.
class RawTerminal {
 public:
  explicit RawTerminal(bool active) : active_(active && ::tcgetattr(STDIN_FILENO, &saved_) == 0) {
    if (!active_) return;
    termios raw = saved_;
    ::cfmakeraw(&raw);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() {
    if (active_) ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_);
  }

 private:
  termios saved_{};
  bool active_;
};

rpc::v1::ExecInput::Size WindowSize() {
  rpc::v1::ExecInput::Size size;
  winsize window{};
  if (::ioctl(STDIN_FILENO, TIOCGWINSZ, &window) == 0) {
    size.set_rows(window.ws_row);
    size.set_columns(window.ws_col);
  }
  return size;
}

class Execution {
 public:
  Execution(Session& session, rpc::Client& client, bool with_stdin, bool tty)
      : session_(session),
        client_(client),
        with_stdin_(with_stdin),
        tty_(tty),
        stdin_(session.context()),
        resized_(session.context()) {}

  int Run(const rpc::v1::ExecInput& start) {
    call_ = client_.Exec(session_.executor(),
                         {.message = [this](rpc::v1::ExecOutput& output) { OnOutput(output); },
                          .written = [this] { ReadInput(); },
                          .done = [this](const Result<void>& result) { OnDone(result); }});
    call_->Write(start);
    if (with_stdin_) stdin_.assign(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    if (tty_) {
      resized_.add(SIGWINCH);
      AwaitResize();
    }
    const RawTerminal raw(tty_);
    const auto keep_running = boost::asio::make_work_guard(session_.context());
    session_.context().run();
    return code_;
  }

 private:
  void OnOutput(const rpc::v1::ExecOutput& output) {
    if (output.has_stdout()) WriteAll(STDOUT_FILENO, output.stdout());
    else if (output.has_stderr()) WriteAll(STDERR_FILENO, output.stderr());
    else exit_code_ = output.exit_code();
  }

  void OnDone(const Result<void>& result) {
    error_ = result.ok() ? std::nullopt : std::optional(result.error());
    if (error_) code_ = session_.Fail(*error_);
    else if (exit_code_) code_ = *exit_code_;
    session_.context().stop();
  }

  // Waiting instead of an asynchronous read: the descriptor's flags are the shell's too and stay untouched.
  void ReadInput() {
    if (!with_stdin_ || waiting_ || call_->Queued() > 0) return;
    waiting_ = true;
    stdin_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this](const boost::system::error_code& error) {
                        waiting_ = false;
                        // A regular file can't be waited for; it is always readable.
                        if (!error || error == boost::asio::error::operation_not_supported) TakeInput();
                      });
  }

  void TakeInput() {
    std::string bytes(32768, '\0');
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
      ReadInput();
      return;
    }
    rpc::v1::ExecInput input;
    if (got <= 0) {
      with_stdin_ = false;
      input.set_stdin_closed(true);
    } else {
      bytes.resize(static_cast<size_t>(got));
      input.set_stdin(std::move(bytes));
    }
    call_->Write(std::move(input));
  }

  void AwaitResize() {
    resized_.async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      rpc::v1::ExecInput input;
      *input.mutable_size() = WindowSize();
      call_->Write(std::move(input));
      AwaitResize();
    });
  }

  Session& session_;
  rpc::Client& client_;
  bool with_stdin_, tty_, waiting_ = false;
  boost::asio::posix::stream_descriptor stdin_;
  boost::asio::signal_set resized_;
  std::shared_ptr<rpc::ExecCall> call_;
  std::optional<int> exit_code_;
  std::optional<Error> error_;
  int code_ = kRefused;
};

// A pod that is named is looked up by the daemon anyway.
Result<api::ObjectKey> FindPod(rpc::Client& client, const Target& target, const std::string& ns) {
  if (target.kind->kind == "Pod") return KeyOf(target, ns);
  ASSIGN_OR_RETURN(const auto picked, PickPod(client, target, ns));
  return picked.pod.key();
}

int Exec(Session& session, const Options& options) {
  if (options.command.empty())
    return session.Usage("no command to execute",
                         "write it after --: tfemu exec " + options.target + " -- sh");
  const auto target = ParseTarget(options.target, "Pod");
  if (!target.ok()) return session.Usage(target.error().message, target.error().hint);
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  const auto key = FindPod(*client.value(), target.value(), session.ns());
  if (!key.ok()) return session.Fail(key.error());
  bool tty = options.tty;
  if (tty && ::isatty(STDIN_FILENO) == 0) {
    session.terminal.Warn("standard input is not a terminal, so the command gets none");
    tty = false;
  }
  rpc::v1::ExecInput start;
  *start.mutable_start()->mutable_pod() = ToMessage(key.value());
  start.mutable_start()->set_container(options.container);
  for (const auto& word : options.command) start.mutable_start()->add_command(word);
  start.mutable_start()->set_tty(tty);
  start.mutable_start()->set_stdin(options.stdin_open);
  if (tty) *start.mutable_start()->mutable_size() = WindowSize();
  Execution execution(session, *client.value(), options.stdin_open, tty);
  return execution.Run(start);
}

}  // namespace

void AddExec(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("exec", "Run a command in a running container; exits with its code");
  verb->add_option("target", options->target, "POD, or deployment/NAME for one of its pods")->required();
  verb->add_option("command", options->command, "The command, after --");
  verb->add_option("-c,--container", options->container, "This container instead of the pod's first");
  verb->add_flag("-i,--stdin", options->stdin_open, "Pass standard input on");
  verb->add_flag("-t,--tty", options->tty, "On a terminal of its own");
  verb->footer(
      "Examples:\n  tfemu exec tf-mnist-gpu-ps-0 -- env\n  tfemu exec -it tf-mnist-gpu-ps-0 -- bash\n"
      "  tar c src | tfemu exec -i web-0 -c main -- tar x -C /tmp");
  verb->callback([=, &session] { session.action = [&session, options] { return Exec(session, *options); }; });
}

}  // namespace tfemu::cli
