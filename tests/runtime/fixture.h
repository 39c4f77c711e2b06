// A cluster's runtime for one test, and ways to wait for what it says.
#pragma once

#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>
#include <vector>

#include "runtime/log_format.h"
#include "runtime/process/process_runtime.h"

namespace tfemu::test {

// A folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Cluster {
 public:
  using Type = runtime::PodEvent::Type;
  explicit Cluster(const std::string& name = "test");

  process::ProcessRuntime& runtime() { return *runtime_; }
  // Another daemon on the same folder; what this one had seen is forgotten.
  Result<void> Restart();
  const std::string& folder() const { return folder_.path(); }
  const std::vector<runtime::PodEvent>& events() const { return events_; }
  const std::vector<std::string>& reports() const { return reports_; }

  // Runs the loop until `done` holds; false when it did not within `seconds`.
  bool Until(const std::function<bool()>& done, int seconds = 20);
  // Waits for an event, and gives it; fails the test when it does not come.
  runtime::PodEvent Await(Type type, const std::string& uid, const std::string& container = "");

  static runtime::PodLaunch PodOf(const std::string& uid, const std::string& address);
  runtime::ContainerLaunch Shell(const std::string& uid, const std::string& script);
  // A pod whose only container runs `script`, until it has ended.
  runtime::PodEvent RunToEnd(const std::string& uid, const std::string& address, const std::string& script);
  // What the container wrote to one of its streams, without stamps.
  std::string Output(const runtime::ContainerLaunch& container,
                     runtime::Stream stream = runtime::Stream::kStdout);
  bool HasLog(const std::string& uid) const;  // it has written something
  std::string OutputOf(const std::string& uid) { return Output(Shell(uid, "")); }

 private:
  std::string name_;
  TemporaryFolder folder_;
  boost::asio::io_context context_;
  io::AsioExecutor executor_{context_};
  std::vector<runtime::PodEvent> events_;
  std::vector<std::string> reports_;
  std::unique_ptr<process::ProcessRuntime> runtime_;
};

bool HaveRoot();

}  // namespace tfemu::test

// First in every test that needs the real thing.
#define SKIP_WITHOUT_ROOT()                                   \
  if (!::tfemu::test::HaveRoot()) {                           \
    MESSAGE("skipped: needs root for namespaces and mounts"); \
    return;                                                   \
  }
