// tfemu info, tfemu version.
#include <CLI/CLI.hpp>

#include "emulator/rpc/client.h"
#include "tools/cli/cluster_facts.h"
#include "tools/cli/verbs.h"
#include "tools/cli/version.h"

namespace tfemu::cli {
namespace {

int Info(Session& session) {
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  const auto text = DescribeCluster(session, *client.value());
  if (!text.ok()) return session.Fail(text.error());
  session.terminal.Print(text.value());
  return kOk;
}

// A cluster that is down is no error here.
int Version(Session& session) {
  session.terminal.Print(std::string("tfemu  ") + kVersion + "\n");
  const auto client = session.Connect();
  if (!client.ok()) {
    session.terminal.Print("tfemud not running (cluster " + session.flags.cluster + ")\n");
    return kOk;
  }
  const auto info = client.value()->Call(&rpc::Stub::Info, rpc::v1::InfoRequest());
  if (!info.ok()) return session.Fail(info.error());
  session.terminal.Print("tfemud " + info.value().version() + " (cluster " + info.value().name() + ")\n");
  return kOk;
}

}  // namespace

void AddInfo(CLI::App& app, Session& session) {
  auto* verb = app.add_subcommand("info", "What the cluster is: isolation, nodes, GPUs, addresses");
  verb->footer("Example:\n  tfemu info --cluster test");
  verb->callback([=, &session] { session.action = [&session] { return Info(session); }; });
}

void AddVersion(CLI::App& app, Session& session) {
  auto* verb = app.add_subcommand("version", "The versions of this program and of the cluster's daemon");
  verb->footer("Example:\n  tfemu version");
  verb->callback([=, &session] { session.action = [&session] { return Version(session); }; });
}

}  // namespace tfemu::cli
