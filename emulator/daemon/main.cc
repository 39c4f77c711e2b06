// tfemud: the daemon of one cluster, normally started by `tfemu up`.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "emulator/daemon/daemon.h"
#include "emulator/rpc/paths.h"

namespace {

using tfemu::daemon::Options;

void DescribeOptions(CLI::App& app, Options& options) {
  app.description(
      "The daemon of one tfemu cluster. `tfemu up` starts it; --foreground suits systemd and containers.");
  app.set_version_flag("--version", TFEMU_VERSION);
  app.add_option("--home", options.home, "Folder of all clusters ($TFEMU_HOME)");
  app.add_option("--cluster", options.cluster, "Name of the cluster")->capture_default_str();
  app.add_option("--config", options.config_file, "cluster.yaml: nodes, NAS folders, images");
  app.add_option("--nodes", options.nodes, "Nodes of the host's size")
      ->capture_default_str()
      ->check(CLI::Range(1, 250));
  app.add_option("--cpus", options.cpus, "CPUs that each node is said to have; pods share those of the host")
      ->check(CLI::Range(1, 1024));
  app.add_option("--gpus", options.gpus, "GPUs of each node: N, all (of the host) or none")
      ->capture_default_str();
  app.add_option("--gpu-model", options.gpu_model, "Virtual GPUs of this model, such as A10");
  app.add_option("--eci", options.eci,
                 "Zones of Elastic Container Instance that take every pod, such as cn-beijing-k");
  app.add_option("--isolation", options.isolation, "auto or root")->capture_default_str();
  app.add_flag("--ephemeral", options.ephemeral, "Remove the cluster's state at the end");
  app.add_flag("--probe-gpus", options.probe_gpus, "Print the host's GPUs as its driver tells them, and end");
  app.add_flag("--foreground", options.foreground, "Stay in the terminal's session and log to it");
  app.add_option("--ready-fd", options.ready_fd,
                 "Write \"ready\" or the error to this descriptor, then close it");
}

void Tell(int fd, const std::string& text) {
  if (fd < 0) return;
  (void)!::write(fd, text.data(), text.size());
  ::close(fd);
}

std::string Sentence(const tfemu::Error& error) {
  return "error: " + error.message + "\n" + (error.hint.empty() ? "" : "hint: " + error.hint + "\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  Options options;
  CLI::App app;
  DescribeOptions(app, options);
  CLI11_PARSE(app, argc, argv);
  if (options.ready_fd >= 0) ::fcntl(options.ready_fd, F_SETFD, FD_CLOEXEC);
  const auto environment = [](const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return std::string(value == nullptr ? "" : value);
  };
  if (options.probe_gpus) {
    const std::string library = environment("TFEMU_NVML");
    const auto host = tfemu::gpu::ProbeHostGpus(library.empty() ? tfemu::gpu::kNvmlLibrary : library,
                                                tfemu::gpu::kProbeTimeoutMs);
    return std::puts(tfemu::gpu::ProbeText(host).c_str()) < 0;
  }
  if (options.home.empty()) {
    const auto home = tfemu::rpc::HomeFolder(environment);
    if (!home.ok()) return std::fputs(Sentence(home.error()).c_str(), stderr), 1;
    options.home = home.value();
  }
  const auto result = tfemu::daemon::RunCluster(options, [&] {
    Tell(options.ready_fd, "ready\n");
    options.ready_fd = -1;
  });
  if (result.ok()) return 0;
  Tell(options.ready_fd, Sentence(result.error()));
  std::fputs(Sentence(result.error()).c_str(), stderr);
  return 1;
}
