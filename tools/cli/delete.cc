// tfemu delete.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

#include "emulator/rpc/client.h"
#include "tools/cli/deletion.h"
#include "tools/cli/manifests.h"
#include "tools/cli/objects.h"
#include "tools/cli/targets.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

const std::map<std::string, rpc::v1::DeleteRequest::Propagation> kCascades = {
    {"background", rpc::v1::DeleteRequest::BACKGROUND},
    {"foreground", rpc::v1::DeleteRequest::FOREGROUND},
    {"orphan", rpc::v1::DeleteRequest::ORPHAN}};

struct Options {
  std::vector<std::string> targets, files;
  std::string selector, cascade = "background", timeout = "-1";
  bool all = false, wait = true, force = false, now = false, ignore_missing = false;
  std::optional<int64_t> grace_period;
};

Result<std::vector<api::ObjectKey>> FromFiles(Session& session, const Options& options) {
  std::vector<api::ObjectKey> keys;
  ASSIGN_OR_RETURN(const auto manifests, ReadManifests(options.files, session.flags.ns));
  for (const auto& manifest : manifests) keys.push_back(manifest.key);
  // What was needed first goes last.
  std::ranges::reverse(keys);
  return keys;
}

Result<std::vector<api::ObjectKey>> FromTargets(Session& session, const Options& options) {
  std::vector<api::ObjectKey> keys;
  ASSIGN_OR_RETURN(const auto targets, ParseTargets(options.targets));
  ASSIGN_OR_RETURN(auto* client, session.Connect());
  for (const auto& target : targets) {
    if (!target.name.empty()) {
      keys.push_back(KeyOf(target, session.ns()));
      continue;
    }
    if (options.selector.empty() && !options.all)
      return Error{Reason::kBadRequest, "which " + std::string(target.kind->resource) + "?",
                   "name them, choose by labels with -l, or take --all"};
    ASSIGN_OR_RETURN(const auto listed,
                     ListObjects(*client, {std::string(target.kind->kind),
                                           target.kind->namespaced ? session.ns() : "", options.selector}));
    for (const auto& object : listed.objects) keys.push_back(object.key());
  }
  return keys;
}

int Delete(Session& session, const Options& options) {
  if (options.files.empty() && options.targets.empty())
    return session.Usage("delete what?", "name KIND NAME, or take -f FILE");
  const auto keys = options.files.empty() ? FromTargets(session, options) : FromFiles(session, options);
  if (!keys.ok())
    return keys.error().reason == Reason::kBadRequest ? session.Usage(keys.error().message, keys.error().hint)
                                                      : session.Fail(keys.error());
  const auto timeout = ParseTimeout(options.timeout);
  if (!timeout.ok()) return session.Usage(timeout.error().message, timeout.error().hint);
  if (keys.value().empty()) session.terminal.Note("No resources found");
  DeletionOptions how{.propagation = kCascades.at(options.cascade),
                      .wait = options.wait,
                      .ignore_missing = options.ignore_missing || (options.all && options.files.empty()),
                      .timeout = timeout.value()};
  if (options.grace_period && *options.grace_period >= 0) how.grace_period_seconds = options.grace_period;
  if (options.force) how.grace_period_seconds = 0;
  if (options.now) how.grace_period_seconds = 1;
  return DeleteObjects(session, keys.value(), how);
}

}  // namespace

void AddDelete(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("delete", "Delete objects, and wait until they are gone");
  verb->add_option("target", options->targets, "KIND NAME... or KIND/NAME...");
  verb->add_option("-f,--filename", options->files, "The objects of these manifests");
  verb->add_option("-l,--selector", options->selector, "All objects with these labels");
  verb->add_flag("--all", options->all, "All objects of the kind, in the namespace");
  verb->add_flag("--wait,!--no-wait", options->wait, "Return when they are gone (true)");
  verb->add_option("--timeout", options->timeout, "Wait no longer than this");
  verb->add_option("--grace-period", options->grace_period, "Seconds between the signal and the kill");
  verb->add_flag("--force", options->force, "Kill at once");
  verb->add_flag("--now", options->now, "A grace period of one second");
  verb->add_option("--cascade", options->cascade,
                   "Dependents follow (background), go first (foreground), or stay (orphan)")
      ->check(CLI::IsMember({"background", "foreground", "orphan"}));
  verb->add_flag("--ignore-not-found", options->ignore_missing, "A missing object is no error");
  verb->footer(
      "Examples:\n  tfemu delete tfjob tf-mnist-gpu\n  tfemu delete -f tf-mnist-gpu.yaml\n"
      "  tfemu delete pods --all --grace-period=0");
  verb->callback(
      [=, &session] { session.action = [&session, options] { return Delete(session, *options); }; });
}

}  // namespace tfemu::cli
