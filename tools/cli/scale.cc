// tfemu scale.
#include <CLI/CLI.hpp>

#include "emulator/rpc/client.h"
#include "tools/cli/objects.h"
#include "tools/cli/targets.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

struct Options {
  std::vector<std::string> targets;
  std::string type;
  int replicas = 0;
};

int Scale(Session& session, const Options& options) {
  const auto targets = ParseTargets(options.targets);
  if (!targets.ok()) return session.Usage(targets.error().message, targets.error().hint);
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  int code = kOk;
  for (const auto& target : targets.value()) {
    if (target.name.empty()) return session.Usage("which " + std::string(target.kind->singular) + "?");
    rpc::v1::ScaleRequest request;
    *request.mutable_key() = ToMessage(KeyOf(target, session.ns()));
    request.set_replica_type(options.type);
    request.set_replicas(options.replicas);
    const auto reply = client.value()->Call(&rpc::Stub::Scale, request);
    if (!reply.ok()) code = session.Fail(reply.error());
    else session.terminal.Print(DisplayName(*target.kind, target.name) + " scaled\n");
  }
  return code;
}

}  // namespace

void AddScale(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("scale", "Change the number of replicas");
  verb->add_option("target", options->targets, "deployment/NAME, replicaset/NAME, tfjob/NAME")->required();
  verb->add_option("--replicas", options->replicas, "How many")->required()->check(CLI::NonNegativeNumber);
  verb->add_option("--type", options->type, "Of a TFJob: which replicas (Worker)");
  verb->footer(
      "Examples:\n  tfemu scale deployment/web --replicas=3\n  tfemu scale tfjob/mnist --type Worker "
      "--replicas=4");
  verb->callback(
      [=, &session] { session.action = [&session, options] { return Scale(session, *options); }; });
}

}  // namespace tfemu::cli
