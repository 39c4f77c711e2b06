#include "tools/cli/daemon.h"

#include "emulator/rpc/client.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "emulator/base/strings.h"
#include "emulator/base/unique_fd.h"

namespace tfemu::cli {
namespace {

namespace fs = std::filesystem;

// A daemon is ready within milliseconds; a host that swaps may need longer.
constexpr int kReadyMilliseconds = 30'000;
// Pods get their grace period when the cluster goes down; then they are killed.
constexpr int kGoneMilliseconds = 60'000;

std::string LastLines(const std::string& path, size_t bytes) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  const off_t begin = size > static_cast<off_t>(bytes) ? size - static_cast<off_t>(bytes) : 0;
  std::string text(bytes, '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), begin);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return std::string(Trim(text));
}

// What the daemon says on its ready-fd: "ready", or "error: ..." and "hint: ...".
Result<void> ReadReady(int fd, const std::string& log) {
  std::string text;
  for (;;) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, kReadyMilliseconds) <= 0)
      return Error{Reason::kTimeout, "the daemon is not ready after 30 s", "its log: " + log};
    char block[4096];
    const ssize_t got = ::read(fd, block, sizeof block);
    if (got <= 0) break;
    text.append(block, static_cast<size_t>(got));
    if (text == "ready\n") return {};
  }
  Error error{Reason::kUnavailable, ""};
  for (const auto& line : Split(text, '\n')) {
    if (line.starts_with("error: ")) error.message = line.substr(7);
    else if (line.starts_with("hint: ")) error.hint = line.substr(6);
    else if (!line.empty()) error.hint += (error.hint.empty() ? "" : "\n") + line;
  }
  if (error.message.empty()) {
    const std::string last = LastLines(log, 400);
    error.message = "the daemon ended before it was ready";
    error.hint =
        "its log, " + log + ", ends with: " + (last.empty() ? "nothing" : last.substr(last.rfind('\n') + 1));
  }
  return error;
}

Result<pid_t> Spawn(const std::string& program, const std::vector<std::string>& arguments, int ready_fd,
                    const std::string& log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_adddup2(&actions, ready_fd, 3);
  posix_spawn_file_actions_addchdir_np(&actions, "/");
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return Error{Reason::kUnavailable, "cannot start " + program + ": " + std::strerror(error)};
  return pid;
}

Result<void> AwaitExit(int pidfd) {
  pollfd gone{pidfd, POLLIN, 0};
  if (pidfd >= 0 && ::poll(&gone, 1, kGoneMilliseconds) == 0)
    return Error{Reason::kTimeout, "the daemon still runs a minute after it was told to end"};
  return {};
}

}  // namespace

std::map<std::string, std::string> UpOptions::Flags() const {
  std::map<std::string, std::string> flags;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) flags[name] = value;
  };
  add("config", config), add("nodes", nodes), add("cpus", cpus), add("gpus", gpus),
      add("gpu-model", gpu_model), add("eci", eci);
  add("isolation", isolation);
  return flags;
}

Result<std::string> FindDaemon(const rpc::Environment& environment) {
  if (auto named = environment("TFEMU_DAEMON"); !named.empty()) return named;
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place :
       {"tfemud", "../libexec/tfemud", "../libexec/tfemu/tfemud", "../../emulator/daemon/tfemud"})
    if (const fs::path path = here / place;
        ::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path, error))
      return path.lexically_normal().string();
  return Error{Reason::kNotFound, "the daemon program tfemud is not beside " + here.string() + "/tfemu",
               "name it with TFEMU_DAEMON"};
}

namespace {

// Runs the daemon's program for this cluster and returns when it says that it is ready.
Result<void> RunDaemon(Session& session, std::vector<std::string> more) {
  ASSIGN_OR_RETURN(const auto program, FindDaemon(session.environment()));
  ASSIGN_OR_RETURN(const auto home, session.Home());
  ASSIGN_OR_RETURN(const auto paths,
                   rpc::MakeClusterPaths(home, session.flags.cluster, session.environment()));
  std::vector<std::string> arguments{"--home", home, "--cluster", session.flags.cluster, "--ready-fd", "3"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Error{Reason::kUnavailable, std::string("pipe: ") + std::strerror(errno)};
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  // dup2 onto itself would keep the close-on-exec flag.
  if (theirs.get() == 3) theirs.Reset(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, 10));
  ASSIGN_OR_RETURN(const auto pid, Spawn(program, arguments, theirs.get(), paths.daemon_log));
  theirs.Reset();
  const auto ready = ReadReady(ours.get(), paths.daemon_log);
  if (!ready.ok() && ready.error().reason == Reason::kTimeout) ::kill(pid, SIGTERM);
  return ready;
}

}  // namespace

Result<void> StartDaemon(Session& session, const UpOptions& options) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : options.Flags()) {
    arguments.push_back("--" + name);
    arguments.push_back(name == "config" ? fs::absolute(value).string() : value);
  }
  if (options.ephemeral) arguments.push_back("--ephemeral");
  return RunDaemon(session, std::move(arguments));
}

Result<void> SweepCluster(Session& session) { return RunDaemon(session, {"--sweep"}); }

Result<void> StopDaemon(Session& session, bool purge) {
  ASSIGN_OR_RETURN(auto* client, session.Connect());
  ASSIGN_OR_RETURN(const auto info, client->Call(&rpc::Stub::Info, rpc::v1::InfoRequest()));
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, info.pid(), 0)));
  const auto reply = client->Call(&rpc::Stub::Shutdown, rpc::v1::ShutdownRequest());
  // A daemon that ends at once may cut its own answer off.
  if (!reply.ok() && reply.error().reason != Reason::kUnavailable) return reply.error();
  session.Disconnect();
  RETURN_IF_ERROR(AwaitExit(process.get()));
  std::error_code error;
  if (purge) fs::remove_all(info.state_folder(), error);
  if (error)
    return Error{Reason::kUnavailable, "cannot remove " + info.state_folder() + ": " + error.message()};
  return {};
}

std::string DifferenceFrom(const rpc::v1::InfoReply& info, const UpOptions& options) {
  for (const auto& [name, value] : options.Flags()) {
    const auto running = info.settings().find(name);
    std::string theirs = running == info.settings().end() ? "" : running->second;
    if (name == "isolation") theirs = value == "auto" ? value : info.isolation();
    const std::string ours = name == "config" ? fs::absolute(value).string() : value;
    if (theirs != ours)
      return "--" + name + " is " + (theirs.empty() ? "the default" : theirs) + ", not " + ours;
  }
  return {};
}

Result<bool> UseOrStart(Session& session, const UpOptions& options, const std::string& verb) {
  if (const auto running = session.Connect(); running.ok()) {
    ASSIGN_OR_RETURN(const auto info, running.value()->Call(&rpc::Stub::Info, rpc::v1::InfoRequest()));
    const std::string difference = DifferenceFrom(info, options);
    if (difference.empty()) return false;
    return Error{Reason::kConflict,
                 "the cluster \"" + session.flags.cluster + "\" is up and differs: " + difference,
                 "tfemu down first, or give the " + verb + " a cluster of its own: --cluster NAME"};
  }
  ASSIGN_OR_RETURN(const auto paths, session.Paths());
  std::error_code error;
  if (fs::exists(paths.state, error)) session.flags.cluster = verb + "-" + std::to_string(::getpid());
  session.terminal.Note("starting the cluster \"" + session.flags.cluster + "\"");
  RETURN_IF_ERROR(StartDaemon(session, options));
  return true;
}

}  // namespace tfemu::cli
