// python -m venv and pip into a staging folder, scripts pointed at where pods see it, then one rename.
#include "runtime/image/python_environment.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/image/child.h"
#include "runtime/image/digest.h"
#include "runtime/image/file_lock.h"
#include "runtime/image/pip_output.h"

namespace tfemu::image {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

using ProgressSink = std::function<void(const runtime::PrepareProgress&)>;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The packages that are already unpacked; pip says nothing while it does that.
int CountInstalled(const std::string& staging) {
  int count = 0;
  std::error_code ignored;
  for (const auto& library : fs::directory_iterator(staging + "/lib", ignored)) {
    for (const auto& entry : fs::directory_iterator(library.path() / "site-packages", ignored)) {
      count += entry.path().extension() == ".dist-info";
    }
  }
  return count;
}

// pip's scripts begin with the path of the interpreter that installed them, which is the staging folder's.
Result<void> PointScriptsAtPods(const std::string& staging) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(staging + "/bin", error)) {
    if (entry.is_symlink() || !entry.is_regular_file()) continue;
    std::string text = ReadFile(entry.path());
    bool changed = false;
    for (size_t at = text.find(staging); at != text.npos; at = text.find(staging, at)) {
      text.replace(at, staging.size(), runtime::kPythonPrefix);
      changed = true;
    }
    if (!changed) continue;
    std::ofstream file(entry.path(), std::ios::trunc | std::ios::binary);  // keeps the mode
    if (!file.write(text.data(), static_cast<std::streamsize>(text.size())).flush()) {
      return Error{.reason = Reason::kInternal, .message = "cannot write " + entry.path().string()};
    }
  }
  if (!error) return {};
  return Error{.reason = Reason::kInternal,
               .message = staging + " is no virtual environment: " + error.message()};
}

// One run of MakeEnvironment, under the lock. A failed step leaves the staging folder, which the next run
// removes.
class Making {
 public:
  Making(const PythonEnvironment& environment, ProgressSink progress, int lock,
         asio::any_io_executor executor);

  asio::awaitable<Result<void>> MakeVenv();
  asio::awaitable<Result<void>> Install();
  Result<void> Finish();

 private:
  asio::awaitable<Result<void>> Run(std::vector<std::string> argv);
  void Report();
  void Tick();

  PythonEnvironment environment_;
  std::string staging_;
  int lock_;
  ProgressSink progress_;
  std::ofstream log_;
  PipOutput pip_;
  int installed_before_ = 0;
  int reported_ = 0;
  std::string reported_doing_;
  asio::steady_timer ticker_;
};

Making::Making(const PythonEnvironment& environment, ProgressSink progress, int lock,
               asio::any_io_executor executor)
    : environment_(environment),
      staging_(environment.folder + ".partial"),
      lock_(lock),
      progress_(progress ? std::move(progress) : [](const runtime::PrepareProgress&) {}),
      log_(environment.folder + ".log"),
      pip_(environment.requirements, CountRequirements(ReadFile(environment.requirements))),
      ticker_(std::move(executor)) {}

void Making::Report() {
  const int installed = pip_.installing() ? CountInstalled(staging_) - installed_before_ : 0;
  const int done = 1 + pip_.collected() + std::min(installed, pip_.packages());
  if (done == reported_ && pip_.doing() == reported_doing_) return;
  reported_ = done;
  reported_doing_ = pip_.doing();
  progress_({.done = done, .total = 2 + 2 * pip_.packages(), .text = pip_.doing()});
}

// pip unpacks everything in silence, so a clock asks how far it is.
void Making::Tick() {
  ticker_.expires_after(std::chrono::milliseconds(500));
  ticker_.async_wait([this](boost::system::error_code error) {
    if (error) return;  // destroyed or stopped
    if (pip_.installing()) Report();
    Tick();
  });
}

asio::awaitable<Result<void>> Making::Run(std::vector<std::string> argv) {
  ChildOptions options;
  options.argv = std::move(argv);
  options.working_dir = fs::path(environment_.requirements).parent_path();  // relative paths in it mean this
  options.kept_fd = lock_;  // an orphaned pip keeps others out until it has ended
  options.on_line = [this](const std::string& line) {
    log_ << line << std::endl;
    pip_.AddLine(line);
    Report();
  };
  Result<int> code = co_await RunChild(std::move(options));
  if (!code.ok()) co_return std::move(code).error();
  if (code.value() != 0) co_return pip_.Failure(code.value());
  co_return Result<void>();
}

asio::awaitable<Result<void>> Making::MakeVenv() {
  std::error_code error;
  fs::remove_all(staging_, error);
  if (error) {
    co_return Error{
        .reason = Reason::kForbidden,
        .message = "cannot remove the remains of an earlier run, " + staging_ + ": " + error.message()};
  }
  progress_({.done = 0, .total = 2 + 2 * pip_.packages(), .text = "making the virtual environment"});
  std::vector<std::string> argv = {environment_.python, "-I", "-m", "venv", staging_};
  Result<void> made = co_await Run(std::move(argv));
  installed_before_ = CountInstalled(staging_);
  co_return made;
}

asio::awaitable<Result<void>> Making::Install() {
  std::vector<std::string> argv = {staging_ + "/bin/python3", "-I", "-m", "pip", "install"};
  for (const char* flag : {"--no-input", "--no-color", "--progress-bar=off", "--disable-pip-version-check"}) {
    argv.push_back(flag);
  }
  argv.push_back("--requirement");
  argv.push_back(environment_.requirements);
  Tick();
  Result<void> installed = co_await Run(std::move(argv));
  ticker_.cancel();
  co_return installed;
}

Result<void> Making::Finish() {
  RETURN_IF_ERROR(PointScriptsAtPods(staging_));
  std::error_code error;
  fs::rename(staging_, environment_.folder, error);
  if (error) {
    return Error{
        .reason = Reason::kInternal,
        .message = "cannot rename " + staging_ + " to " + environment_.folder + ": " + error.message()};
  }
  const int total = 2 + 2 * pip_.packages();
  progress_({.done = total, .total = total, .text = "ready"});
  return {};
}

}  // namespace

Result<PythonEnvironment> PlanEnvironment(const std::string& requirements, const std::string& cache_folder,
                                          const std::string& python) {
  std::error_code error;
  const fs::path interpreter = fs::canonical(python, error);  // /usr/bin/python3.11 names its version
  if (error) {
    return Error{.reason = Reason::kUnavailable,
                 .message = "there is no " + python + ", which images with python requirements need",
                 .hint = "apt-get install python3-venv"};
  }
  std::ifstream file(requirements);
  if (!file) return Error{.reason = Reason::kNotFound, .message = "cannot read " + requirements};
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string digest = Sha256(interpreter.filename().string() + '\0' + text);
  return PythonEnvironment{
      .folder = cache_folder + "/python/" + digest, .requirements = requirements, .python = python};
}

bool IsReady(const PythonEnvironment& environment) { return fs::is_directory(environment.folder); }

asio::awaitable<Result<void>> MakeEnvironment(PythonEnvironment environment, ProgressSink progress) {
  if (IsReady(environment)) co_return Result<void>();
  std::error_code error;
  fs::create_directories(fs::path(environment.folder).parent_path(), error);
  std::function<void()> on_wait = [&progress] {
    if (progress) progress({.text = "another tfemu is making it, waiting"});
  };
  Result<UniqueFd> lock = co_await LockFile(environment.folder + ".lock", std::move(on_wait));
  if (!lock.ok()) co_return std::move(lock).error();
  if (IsReady(environment)) co_return Result<void>();  // the other one has made it
  const auto executor = co_await asio::this_coro::executor;
  Making making(environment, std::move(progress), lock.value().get(), executor);
  if (Result<void> made = co_await making.MakeVenv(); !made.ok()) co_return made;
  if (Result<void> installed = co_await making.Install(); !installed.ok()) co_return installed;
  co_return making.Finish();
}

}  // namespace tfemu::image
