#include "tools/cli/cluster_facts.h"

#include "emulator/rpc/client.h"

#include "emulator/api/view.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"
#include "emulator/codec/table.h"
#include "tools/cli/objects.h"

namespace tfemu::cli {
namespace {

std::string NodeLine(const api::NodeView& node) {
  std::string line = node.name + ": " + node.cpu + " cpu, " + node.memory + " memory";
  if (!node.gpus.empty()) line += ", GPUs: " + node.gpus;
  return line + (node.ready ? "" : ", not ready");
}

}  // namespace

Result<std::string> DescribeCluster(Session& session, rpc::Client& client) {
  ASSIGN_OR_RETURN(const auto info, client.Call(&rpc::Stub::Info, rpc::v1::InfoRequest()));
  ASSIGN_OR_RETURN(const auto nodes, ListObjects(client, {"Node", "", ""}));
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows.push_back({name, value});
  };
  add("cluster", info.name() + (info.ephemeral() ? " (ephemeral)" : ""));
  add("up for", FormatAge(session.Now() - Instant{info.started_ns()}));
  add("daemon", "tfemud " + info.version() + ", pid " + std::to_string(info.pid()));
  add("isolation", info.isolation());
  add("cgroups", info.cgroup_driver());
  for (size_t i = 0; i < nodes.objects.size(); ++i) {
    const api::NodeView node = api::ViewNode(nodes.objects[i]);
    rows.push_back({i == 0 ? "nodes" : "", NodeLine(node)});
    for (const std::string& gpu : node.gpu_lines) rows.push_back({"", "  " + gpu});
  }
  add("pod addresses", info.pod_range());
  add("dns", info.dns_address());
  add("state", info.state_folder());
  add("images", Join({info.image_folders().begin(), info.image_folders().end()}, ", "));
  add("tfjob", info.tfjob());
  for (const auto& note : info.notes()) add("note", note);
  return codec::LayOut(rows, 2);
}

}  // namespace tfemu::cli
