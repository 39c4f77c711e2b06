// What the runtime itself costs: ready, launch, exec, teardown, memory. Prints medians as JSON.
//   launch_bench SUPERVISOR [RUNS]
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "runtime/process/files.h"
#include "runtime/process/process_runtime.h"

namespace {

using namespace tfemu;
using Type = runtime::PodEvent::Type;

double Now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The kernel clears dead namespaces away in the background and holds up the next ones; each figure starts
// from rest.
void Rest() { ::usleep(200'000); }

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

class Bench {
 public:
  explicit Bench(std::string program) : program_(std::move(program)) {
    char name[] = "/tmp/tfemu-bench-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~Bench() {
    runtime_.reset();
    process::RemoveTree(folder_);
  }

  double Ready() {
    const double begin = Now();
    runtime_ = std::make_unique<process::ProcessRuntime>(
        executor_, process::ProcessRuntime::Options{
                       .state_folder = folder_ + "/state",
                       .cluster = "bench",
                       .supervisor_program = program_,
                       .log = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }});
    const auto started = runtime_->Start();
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", started.error().message.c_str());
      std::exit(1);
    }
    const double took = Now() - begin;
    runtime_->SetSink([this](const runtime::PodEvent& event) { Count(event); });
    return took;
  }

  double Launch(int pods) {
    counts_ = {};
    const double begin = Now();
    for (int i = 0; i < pods; ++i) {
      const std::string uid = Uid(i);
      runtime_->StartPod({.uid = uid,
                          .ns = "default",
                          .name = uid,
                          .node = "n",
                          .hostname = uid,
                          .address = "10.244.0." + std::to_string(2 + i),
                          .dns_searches = {"svc.cluster.local"}});
      runtime_->StartContainer(
          uid,
          {.name = "main", .argv = {"/bin/sleep", "1000"}, .log_path = folder_ + "/logs/" + uid + ".log"});
    }
    Until([&] { return counts_.started == pods; });
    return Now() - begin;
  }

  double Exec() {
    const double begin = Now();
    bool done = false;
    runtime::ExecLaunch launch{.container = "main", .argv = {"/bin/true"}};
    for (auto& fd : launch.stdio) fd.Reset(::dup(2));
    runtime_->Exec(Uid(0), std::move(launch), [&](const Result<int>& result) {
      done = true;
      if (!result.ok()) std::fprintf(stderr, "exec: %s\n", result.error().message.c_str());
    });
    Until([&] { return done; });
    return Now() - begin;
  }

  double TearDown(int pods) {
    counts_ = {};
    const double begin = Now();
    for (int i = 0; i < pods; ++i) runtime_->StopPod(Uid(i));
    Until([&] { return counts_.stopped == pods; });
    return Now() - begin;
  }

  double Shutdown() {
    const double begin = Now();
    runtime_->Shutdown();
    return Now() - begin;
  }

  // The supervisor's own memory, in kB.
  double Memory() {
    const auto text = process::ReadFile("/proc/" + std::to_string(runtime_->supervisor_pid()) + "/status");
    return text.ok() ? std::atof(text.value().c_str() + text.value().find("VmRSS:") + 6) : 0;
  }

 private:
  struct Counts {
    int started = 0, stopped = 0;
  };
  static std::string Uid(int i) { return "pod-" + std::to_string(i); }

  void Count(const runtime::PodEvent& event) {
    if (event.type == Type::kContainerStarted) ++counts_.started;
    if (event.type == Type::kPodStopped) ++counts_.stopped;
    if (event.type == Type::kContainerStartFailed || event.type == Type::kSandboxFailed) {
      std::fprintf(stderr, "%s: %s\n", event.uid.c_str(), event.message.c_str());
      std::exit(1);
    }
  }

  void Until(const std::function<bool()>& done) {
    while (!done()) {
      context_.restart();
      context_.run_one_for(std::chrono::seconds(10));
    }
  }

  std::string program_, folder_;
  boost::asio::io_context context_;
  io::AsioExecutor executor_{context_};
  std::unique_ptr<process::ProcessRuntime> runtime_;
  Counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: launch_bench SUPERVISOR [RUNS]\n");
    return 2;
  }
  const int runs = argc > 2 ? std::atoi(argv[2]) : 20;
  std::vector<double> ready, five, exec, down, hundred, memory, base, shutdown;
  Bench bench(argv[1]);
  for (int run = 0; run < runs; ++run) {
    Rest();
    ready.push_back(bench.Ready());
    five.push_back(bench.Launch(5));
    for (int i = 0; i < 5; ++i) exec.push_back(bench.Exec());
    down.push_back(bench.TearDown(5));
    Rest();
    const double before = bench.Memory();
    base.push_back(before);
    hundred.push_back(bench.Launch(100));
    memory.push_back((bench.Memory() - before) / 100);
    shutdown.push_back(bench.Shutdown());
  }
  std::printf(
      "{\"runs\": %d, \"ready_ms\": %.2f, \"launch_5_ms\": %.2f, \"exec_ms\": %.2f, \"teardown_5_ms\": %.2f, "
      "\"launch_100_ms\": %.1f, \"memory_per_pod_kb\": %.1f, \"supervisor_rss_kb\": %.0f, "
      "\"shutdown_100_ms\": %.1f}\n",
      runs, Median(ready), Median(five), Median(exec), Median(down), Median(hundred), Median(memory),
      Median(base), Median(shutdown));
}
