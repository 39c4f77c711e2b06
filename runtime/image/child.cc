// posix_spawn starts it: safe beside other threads, and able to close every descriptor. Boost.Process awaits
// it.
#include "runtime/image/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/process/v2/process.hpp>
#include <istream>

#include "emulator/base/strings.h"
#include "emulator/base/unique_fd.h"

namespace tfemu::image {
namespace {

namespace asio = boost::asio;

constexpr int kKeptFd = 3;

// The spawn attributes and actions of one start, released with it.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void Fill(const ChildOptions& options, int output) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);  // its own group, so that all of it can be killed at once
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, 1);
    posix_spawn_file_actions_adddup2(&actions_, output, 2);
    if (options.kept_fd >= 0) posix_spawn_file_actions_adddup2(&actions_, options.kept_fd, kKeptFd);
    posix_spawn_file_actions_addclosefrom_np(&actions_, options.kept_fd >= 0 ? kKeptFd + 1 : kKeptFd);
    posix_spawn_file_actions_addchdir_np(&actions_, options.working_dir.c_str());
  }

  int Spawn(std::vector<std::string>& argv, pid_t& pid) {
    std::vector<char*> pointers;
    for (std::string& argument : argv) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    return posix_spawn(&pid, pointers[0], &actions_, &attributes_, pointers.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

Error Failed(const std::string& program, int error) {
  return {.reason = error == ENOENT ? Reason::kNotFound : Reason::kInternal,
          .message = "cannot run " + program + ": " + strerror(error)};
}

// Kills the child's process group unless it was told that the child has ended.
class GroupGuard {
 public:
  explicit GroupGuard(pid_t group) : group_(group) {}
  ~GroupGuard() {
    if (group_ > 0) kill(-group_, SIGKILL);
  }
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  void Release() { group_ = 0; }

 private:
  pid_t group_;
};

asio::awaitable<void> ReadLines(UniqueFd& output, const std::function<void(const std::string&)>& on_line) {
  const auto executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor stream(executor, output.Release());
  asio::streambuf buffer;
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  while (!error) {
    co_await asio::async_read_until(stream, buffer, '\n', token);
    std::istream lines(&buffer);
    std::string line;
    // At the end of the stream the last line may lack its '\n'.
    while (buffer.size() > 0 && std::getline(lines, line)) {
      if (on_line) on_line(std::string(Trim(line)));
      if (!error) break;
    }
  }
}

}  // namespace

asio::awaitable<Result<int>> RunChild(ChildOptions options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) co_return Failed(options.argv[0], errno);
  UniqueFd output(ends[0]);
  UniqueFd input(ends[1]);
  // Above the numbers that the plan writes to, so that no step of it overwrites what a later one needs.
  input.Reset(fcntl(input.get(), F_DUPFD_CLOEXEC, kKeptFd + 1));
  SpawnPlan plan;
  plan.Fill(options, input.get());
  pid_t pid = -1;
  if (const int error = plan.Spawn(options.argv, pid)) co_return Failed(options.argv[0], error);
  input.Reset();
  const auto executor = co_await asio::this_coro::executor;
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));  // CLOEXEC by birth
  boost::process::v2::process child(executor, pid, pidfd);
  GroupGuard group(pid);
  co_await ReadLines(output, options.on_line);
  co_await child.async_wait(asio::use_awaitable);
  const int status = child.native_exit_code();  // the other exit code does not tell a signal from an exit
  child.detach();
  group.Release();
  co_return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace tfemu::image
