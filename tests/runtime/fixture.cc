#include "tests/runtime/fixture.h"

#include <unistd.h>

#include <cstdlib>

#include "emulator/base/strings.h"
#include "runtime/log_format.h"
#include "runtime/process/files.h"

namespace tfemu::test {

TemporaryFolder::TemporaryFolder() {
  char name[] = "/tmp/tfemu-test-XXXXXX";
  path_ = ::mkdtemp(name);
}

TemporaryFolder::~TemporaryFolder() { process::RemoveTree(path_); }

bool HaveRoot() { return ::geteuid() == 0; }

Cluster::Cluster(const std::string& name) : name_(name) {
  const auto started = Restart();
  REQUIRE_MESSAGE(started.ok(), started.error().message);
}

Result<void> Cluster::Restart() {
  const char* program = std::getenv("TFEMU_SUPERVISOR");
  REQUIRE_MESSAGE(program, "TFEMU_SUPERVISOR must name the supervisor's program");
  events_.clear();
  runtime_ = std::make_unique<process::ProcessRuntime>(
      executor_,
      process::ProcessRuntime::Options{.state_folder = folder_.path(),
                                       .cluster = name_,
                                       .supervisor_program = program,
                                       .log = [this](const std::string& text) { reports_.push_back(text); }});
  runtime_->SetSink([this](const runtime::PodEvent& event) { events_.push_back(event); });
  return runtime_->Start();
}

bool Cluster::Until(const std::function<bool()>& done, int seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    context_.restart();
    // What a test waits for may be no event of ours, such as a line in a log.
    context_.run_one_for(std::chrono::milliseconds(20));
  }
  return true;
}

runtime::PodEvent Cluster::Await(Type type, const std::string& uid, const std::string& container) {
  runtime::PodEvent found;
  const bool came = Until([&] {
    for (const auto& event : events_) {
      found = event;
      if (event.type == type && event.uid == uid && event.container == container) return true;
    }
    return false;
  });
  std::string trace;
  for (const auto& event : events_)
    trace += "\n  " + std::to_string(static_cast<int>(event.type)) + " " + event.uid + "/" + event.container +
             " " + event.reason + " " + event.message + " " + std::to_string(event.exit_code);
  REQUIRE_MESSAGE(came, "no event ", static_cast<int>(type), " of ", uid, "; came:", trace);
  return found;
}

runtime::PodLaunch Cluster::PodOf(const std::string& uid, const std::string& address) {
  return {.uid = uid,
          .ns = "default",
          .name = uid,
          .node = "node-0",
          .hostname = uid,
          .address = address,
          .dns_searches = {"default.svc.cluster.local", "svc.cluster.local", "cluster.local"}};
}

runtime::ContainerLaunch Cluster::Shell(const std::string& uid, const std::string& script) {
  return {.name = "main",
          .argv = {"/bin/sh", "-c", script},
          .log_path = runtime::LogPath(folder(), "default", uid, uid, "main", 0)};
}

runtime::PodEvent Cluster::RunToEnd(const std::string& uid, const std::string& address,
                                    const std::string& script) {
  runtime().StartPod(PodOf(uid, address));
  runtime().StartContainer(uid, Shell(uid, script));
  return Await(Type::kContainerExited, uid, "main");
}

bool Cluster::HasLog(const std::string& uid) const {
  const auto text = process::ReadFile(runtime::LogPath(folder(), "default", uid, uid, "main", 0));
  return text.ok() && !text.value().empty();
}

std::string Cluster::Output(const runtime::ContainerLaunch& container, runtime::Stream stream) {
  const auto text = process::ReadFile(container.log_path);
  REQUIRE(text.ok());
  std::string out;
  for (const auto& line : Split(text.value(), '\n')) {
    runtime::LogRecord record;
    if (line.empty()) continue;
    REQUIRE(runtime::ParseLogRecord(line, record));
    if (record.stream != stream) continue;
    out += record.bytes;
    if (!record.partial) out += '\n';
  }
  return out;
}

}  // namespace tfemu::test
