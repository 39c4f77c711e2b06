// tfemu describe.
#include <CLI/CLI.hpp>

#include "emulator/api/printer.h"
#include "emulator/api/view.h"
#include "emulator/rpc/client.h"
#include "tools/cli/objects.h"
#include "tools/cli/targets.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

struct Options {
  std::vector<std::string> targets;
  std::string selector;
  bool all_namespaces = false;
};

Result<std::vector<api::Object>> Select(rpc::Client& client, ObjectQuery query, const auto& wanted) {
  std::vector<api::Object> selected;
  ASSIGN_OR_RETURN(auto all, ListObjects(client, query));
  for (auto& object : all.objects)
    if (wanted(object)) selected.push_back(std::move(object));
  return selected;
}

Result<std::vector<api::Object>> Related(rpc::Client& client, const api::Object& object) {
  const auto& key = object.key();
  if (key.kind == "TFJob" || key.kind == "Job")
    return Select(client, {"Pod", key.ns, ""}, [&](const api::Object& other) {
      const auto owner = api::ControllerOf(other);
      return owner && owner->uid == object.uid();
    });
  if (key.kind == "Deployment")
    return Select(client, {"ReplicaSet", key.ns, ""}, [&](const api::Object& other) {
      const auto owner = api::ControllerOf(other);
      return owner && owner->uid == object.uid();
    });
  if (key.kind == "Service") {
    const auto selector = api::PodSelectorOf(object);
    return Select(client, {"Pod", key.ns, ""}, [&](const api::Object& pod) {
      return !selector.empty() && selector.Matches(api::LabelsOf(pod));
    });
  }
  if (key.kind == "Node")
    return Select(client, {"Pod", "", ""}, [&](const api::Object& pod) {
      const auto view = api::ViewPod(pod);
      return view.node == key.name && !view.over();
    });
  if (key.kind == "PersistentVolumeClaim")
    return Select(client, {"Pod", key.ns, ""},
                  [&](const api::Object& pod) { return api::UsesClaim(pod, key.name); });
  return std::vector<api::Object>{};
}

// The uid of a node's events may be its name, as a kubelet writes it.
Result<std::string> DescribeOne(Session& session, rpc::Client& client, const api::Object& object) {
  const auto& key = object.key();
  ASSIGN_OR_RETURN(auto events, Select(client, {"Event", key.ns, ""}, [&](const api::Object& event) {
                     const auto view = api::ViewEvent(event);
                     const bool same_uid =
                         view.uid.empty() || view.uid == object.uid() || view.uid == key.name;
                     return view.kind == key.kind && view.name == key.name && same_uid;
                   }));
  ASSIGN_OR_RETURN(auto related, Related(client, object));
  return api::Describe(object, {std::move(events), std::move(related), session.Now()});
}

Result<std::vector<api::Object>> Find(Session& session, rpc::Client& client, const Options& options,
                                      const Target& target) {
  if (target.name.empty()) {
    const bool everywhere = options.all_namespaces || !target.kind->namespaced;
    ASSIGN_OR_RETURN(auto all, ListObjects(client, {std::string(target.kind->kind),
                                                    everywhere ? "" : session.ns(), options.selector}));
    return std::move(all.objects);
  }
  ASSIGN_OR_RETURN(auto object, GetObject(client, KeyOf(target, session.ns())));
  return std::vector<api::Object>{std::move(object)};
}

int Describe(Session& session, const Options& options) {
  const auto targets = ParseTargets(options.targets);
  if (!targets.ok()) return session.Usage(targets.error().message, targets.error().hint);
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  int code = kOk;
  bool first = true;
  for (const auto& target : targets.value()) {
    const auto objects = Find(session, *client.value(), options, target);
    if (!objects.ok()) {
      code = session.Fail(objects.error());
      continue;
    }
    for (const auto& object : objects.value()) {
      const auto text = DescribeOne(session, *client.value(), object);
      if (!text.ok()) return session.Fail(text.error());
      session.terminal.Print((first ? "" : "\n\n") + text.value());
      first = false;
    }
  }
  if (first && code == kOk) session.terminal.Note("No resources found");
  return code;
}

}  // namespace

void AddDescribe(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("describe", "Everything about an object, with its events");
  verb->add_option("target", options->targets, "KIND [NAME...] or KIND/NAME...")->required();
  verb->add_option("-l,--selector", options->selector, "Only objects with these labels");
  verb->add_flag("-A,--all-namespaces", options->all_namespaces, "Of every namespace");
  verb->footer(
      "Examples:\n  tfemu describe tfjob tf-mnist-gpu\n  tfemu describe pod/tf-mnist-gpu-ps-0\n  tfemu "
      "describe nodes");
  verb->callback(
      [=, &session] { session.action = [&session, options] { return Describe(session, *options); }; });
}

}  // namespace tfemu::cli
