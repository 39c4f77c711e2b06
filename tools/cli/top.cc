// tfemu top: what pods, nodes and GPUs are used for.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/steady_timer.hpp>

#include "emulator/base/strings.h"
#include "emulator/codec/table.h"
#include "emulator/rpc/client.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

using rpc::v1::TopReply;
using Rows = std::vector<std::vector<std::string>>;

constexpr auto kWindow = std::chrono::milliseconds(500);  // over which CPU use is measured

struct Options {
  std::string what = "pods";
  bool all_namespaces = false, no_headers = false;
};

std::string Mebibytes(int64_t bytes) { return std::to_string(bytes >> 20) + "Mi"; }

std::string Key(const TopReply::Pod& pod) { return pod.ns() + "/" + pod.name(); }

struct Use {
  double cores = 0;
  int64_t memory_bytes = 0;
  std::string node;
};

// CPU use is the difference of two readings.
std::map<std::string, Use> UsesOf(const TopReply& before, const TopReply& after) {
  std::map<std::string, int64_t> first;
  for (const auto& pod : before.pods()) first[Key(pod)] = pod.cpu_ns();
  std::map<std::string, Use> uses;
  const auto wall = static_cast<double>(std::max<int64_t>(1, after.now_ns() - before.now_ns()));
  for (const auto& pod : after.pods()) {
    const auto known = first.find(Key(pod));
    // A process that ended between the two took its time with it.
    const int64_t spent = known == first.end() ? 0 : std::max<int64_t>(0, pod.cpu_ns() - known->second);
    uses[Key(pod)] = {static_cast<double>(spent) / wall, pod.memory_bytes(), pod.node()};
  }
  return uses;
}

std::string Cores(double cores) { return std::to_string(static_cast<int>(cores * 1000 + 0.5)) + "m"; }

Rows PodRows(const Session& session, const Options& options, const std::map<std::string, Use>& uses) {
  Rows rows;
  if (!options.no_headers) rows.push_back({"NAME", "CPU(cores)", "MEMORY(bytes)"});
  if (!options.no_headers && options.all_namespaces) rows.back().insert(rows.back().begin(), "NAMESPACE");
  for (const auto& [key, use] : uses) {
    const size_t slash = key.find('/');
    const std::string ns = key.substr(0, slash);
    if (!options.all_namespaces && ns != session.ns()) continue;
    rows.push_back({key.substr(slash + 1), Cores(use.cores), Mebibytes(use.memory_bytes)});
    if (options.all_namespaces) rows.back().insert(rows.back().begin(), ns);
  }
  return rows;
}

Rows NodeRows(const Options& options, const TopReply& reply, const std::map<std::string, Use>& uses) {
  std::map<std::string, Use> nodes;
  for (const auto& node : reply.nodes()) nodes[node];
  for (const auto& [key, use] : uses) {
    nodes[use.node].cores += use.cores;
    nodes[use.node].memory_bytes += use.memory_bytes;
  }
  Rows rows;
  if (!options.no_headers) rows.push_back({"NAME", "CPU(cores)", "MEMORY(bytes)"});
  for (const auto& [name, use] : nodes) rows.push_back({name, Cores(use.cores), Mebibytes(use.memory_bytes)});
  return rows;
}

Rows GpuRows(const Options& options, const TopReply& reply) {
  Rows rows;
  if (!options.no_headers) rows.push_back({"NODE", "GPU", "MODEL", "UTIL", "MEMORY", "HELD BY", "UUID"});
  for (const auto& gpu : reply.gpus())
    rows.push_back(
        {gpu.node(), std::to_string(gpu.index()), gpu.model() + (gpu.is_virtual() ? " (virtual)" : ""),
         gpu.known() ? std::to_string(gpu.utilization()) + "%" : "-",
         (gpu.known() ? Mebibytes(gpu.used_bytes()) : std::string("-")) + "/" + Mebibytes(gpu.memory_bytes()),
         gpu.holders().empty() ? "-" : Join({gpu.holders().begin(), gpu.holders().end()}, ","), gpu.uuid()});
  return rows;
}

// One reading, and a second one where rates are wanted.
Result<std::pair<TopReply, TopReply>> Read(Session& session, bool rates) {
  ASSIGN_OR_RETURN(rpc::Client * client, session.Connect());
  ASSIGN_OR_RETURN(TopReply first, client->Call(&rpc::Stub::Top, rpc::v1::TopRequest()));
  if (!rates) return std::pair{first, first};
  boost::asio::steady_timer(session.context(), kWindow).wait();
  ASSIGN_OR_RETURN(TopReply second, client->Call(&rpc::Stub::Top, rpc::v1::TopRequest()));
  return std::pair{std::move(first), std::move(second)};
}

int Top(Session& session, const Options& options) {
  const auto read = Read(session, options.what != "gpus");
  if (!read.ok()) return session.Fail(read.error());
  const auto& [before, after] = read.value();
  const auto uses = UsesOf(before, after);
  const Rows rows = options.what == "gpus"    ? GpuRows(options, after)
                    : options.what == "nodes" ? NodeRows(options, after, uses)
                                              : PodRows(session, options, uses);
  if (rows.size() <= (options.no_headers ? 0u : 1u))
    session.terminal.Note(options.what == "gpus" ? "no node has GPUs: tfemu up --gpus 2 makes virtual ones"
                                                 : "there is nothing to show");
  else session.terminal.Print(codec::LayOut(rows));
  return kOk;
}

}  // namespace

void AddTop(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("top", "What pods, nodes and GPUs are used for now");
  verb->add_option("what", options->what, "pods, nodes or gpus")
      ->check(CLI::IsMember({"pods", "nodes", "gpus"}))
      ->transform(CLI::Transformer(std::map<std::string, std::string>{
          {"pod", "pods"}, {"po", "pods"}, {"node", "nodes"}, {"no", "nodes"}, {"gpu", "gpus"}}))
      ->capture_default_str();
  verb->add_flag("-A,--all-namespaces", options->all_namespaces, "Pods of every namespace");
  verb->add_flag("--no-headers", options->no_headers, "Rows only");
  verb->footer(
      "Use of a virtual GPU is derived from who holds it and from what the holder reports.\n\n"
      "Examples:\n  tfemu top\n  tfemu top gpus\n  tfemu top nodes");
  verb->callback([=, &session] { session.action = [&session, options] { return Top(session, *options); }; });
}

}  // namespace tfemu::cli
