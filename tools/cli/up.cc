// tfemu up, tfemu down.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "emulator/rpc/client.h"
#include "tools/cli/cluster_facts.h"
#include "tools/cli/daemon.h"
#include "tools/cli/up_flags.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

int ShowCluster(Session& session) {
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  const auto text = DescribeCluster(session, *client.value());
  if (!text.ok()) return session.Fail(text.error());
  if (!session.flags.quiet) session.terminal.Print(text.value());
  return kOk;
}

int Up(Session& session, const UpOptions& options) {
  if (const auto running = session.Connect(); running.ok()) {
    const auto info = running.value()->Call(&rpc::Stub::Info, rpc::v1::InfoRequest());
    if (!info.ok()) return session.Fail(info.error());
    const std::string difference = DifferenceFrom(info.value(), options);
    if (!difference.empty())
      return session.Fail(
          Error{Reason::kConflict,
                "the cluster \"" + session.flags.cluster + "\" is already up and differs: " + difference,
                "tfemu down first, or choose another name with --cluster"});
    session.terminal.Note("the cluster \"" + session.flags.cluster + "\" is already up");
    return ShowCluster(session);
  } else if (running.error().reason != Reason::kNotFound) {
    return session.Fail(running.error());
  }
  if (const auto started = StartDaemon(session, options); !started.ok()) return session.Fail(started.error());
  return ShowCluster(session);
}

int Down(Session& session, bool purge) {
  const auto paths = session.Paths();
  if (!paths.ok()) return session.Fail(paths.error());
  const auto client = session.Connect();
  if (client.ok()) {
    if (const auto stopped = StopDaemon(session, purge); !stopped.ok()) return session.Fail(stopped.error());
    session.terminal.Note("the cluster \"" + session.flags.cluster + "\" is down");
    return kOk;
  }
  if (client.error().reason != Reason::kNotFound) return session.Fail(client.error());
  std::error_code error;
  if (purge && std::filesystem::remove_all(paths.value().state, error) > 0)
    session.terminal.Note("the state of the cluster \"" + session.flags.cluster + "\" is removed");
  else if (error)
    return session.Fail(
        Error{Reason::kUnavailable, "cannot remove " + paths.value().state + ": " + error.message()});
  else session.terminal.Note("the cluster \"" + session.flags.cluster + "\" is not running");
  return kOk;
}

}  // namespace

void AddUpFlags(CLI::App& verb, UpOptions& options) {
  verb.add_option("--config", options.config, "A cluster.yaml that says what the cluster has")
      ->check(CLI::ExistingFile);
  verb.add_option("--nodes", options.nodes, "How many nodes the host's resources are shown as")
      ->check(CLI::Range(1, 1000));
  verb.add_option(
          "--cpus", options.cpus,
          "CPUs that each node is said to have, for manifests that ask for more than this host has; the "
          "pods share the host's")
      ->check(CLI::Range(1, 1024));
  verb.add_option(
      "--gpus", options.gpus,
      "GPUs of each node: a number (virtual ones when the host has none), all of the host's, or none");
  verb.add_option("--gpu-model", options.gpu_model, "Virtual GPUs of this model, such as A10");
  verb.add_option("--eci", options.eci,
                  "Zones of Elastic Container Instance that take every pod, such as cn-beijing-k");
  verb.add_option("--isolation", options.isolation, "auto, root, rootless or plain")
      ->check(CLI::IsMember({"auto", "root", "rootless", "plain"}));
}

void AddUp(CLI::App& app, Session& session) {
  auto options = std::make_shared<UpOptions>();
  auto* verb = app.add_subcommand("up", "Start a cluster and say what it is");
  AddUpFlags(*verb, *options);
  verb->add_flag("--ephemeral", options->ephemeral, "Keep nothing after it goes down");
  verb->footer(
      "Examples:\n  tfemu up --gpus 2\n  tfemu up --cluster test --nodes 3\n  tfemu up --config "
      "cluster.yaml");
  verb->callback([=, &session] { session.action = [&session, options] { return Up(session, *options); }; });
}

void AddDown(CLI::App& app, Session& session) {
  auto purge = std::make_shared<bool>(false);
  auto* verb = app.add_subcommand("down", "Stop the cluster's pods and its daemon");
  verb->add_flag("--purge", *purge, "Remove its state as well: objects, logs, volumes");
  verb->footer("Examples:\n  tfemu down\n  tfemu down --cluster test --purge");
  verb->callback([=, &session] { session.action = [&session, purge] { return Down(session, *purge); }; });
}

}  // namespace tfemu::cli
