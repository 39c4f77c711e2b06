// tfemu wait.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "emulator/api/view.h"
#include "emulator/base/strings.h"
#include "emulator/codec/jsonpath.h"
#include "emulator/rpc/client.h"
#include "tools/cli/await.h"
#include "tools/cli/objects.h"
#include "tools/cli/targets.h"
#include "tools/cli/verbs.h"
#include "tools/cli/wait_for.h"

namespace tfemu::cli {
namespace {

using Judge = std::function<Verdict(const api::Object*)>;

struct Options {
  std::vector<std::string> targets;
  std::string selector, wanted, timeout = "30s";
  bool all = false;
};

// A job that ended the other way will not come to it any more.
bool IsHopeless(const std::string& wanted, const std::string& value, const api::Object& object) {
  const std::string& kind = object.key().kind;
  if (value != "true" || (kind != "TFJob" && kind != "Job")) return false;
  const auto ends = [&](const std::string& type) {
    return type == "failed" || type == (kind == "Job" ? "complete" : "succeeded");
  };
  if (!ends(wanted)) return false;
  return std::ranges::any_of(api::ConditionsOf(object), [&](const api::ConditionView& condition) {
    const std::string type = ToLower(condition.type);
    return condition.status == "True" && type != wanted && ends(type);
  });
}

Judge JudgeCondition(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string wanted = ToLower(text.substr(0, equals));
  const std::string value = equals == std::string::npos ? "true" : ToLower(text.substr(equals + 1));
  return [wanted, value](const api::Object* object) {
    if (object == nullptr) return Verdict::kHopeless;
    if (IsHopeless(wanted, value, *object)) return Verdict::kHopeless;
    if (api::StatusIsStale(*object)) return Verdict::kPending;
    for (const auto& condition : api::ConditionsOf(*object))
      if (ToLower(condition.type) == wanted)
        return ToLower(condition.status) == value ? Verdict::kMet : Verdict::kPending;
    return Verdict::kPending;
  };
}

// "{.status.phase}=Running", the braces and quotes around them optional; without a value, any value will do.
Result<Judge> JudgePath(const std::string& text) {
  const size_t close = text.rfind('}');
  const size_t equals = text.find('=', close == std::string::npos ? 0 : close);
  std::string path(Trim(text.substr(0, equals)));
  if (path.size() > 1 && path.front() == '\'' && path.back() == '\'') path = path.substr(1, path.size() - 2);
  const bool any = equals == std::string::npos;
  const std::string value = any ? "" : text.substr(equals + 1);
  ASSIGN_OR_RETURN(const auto parsed, codec::ParseJsonPath(path));
  return Judge([parsed, value, any](const api::Object* object) {
    if (object == nullptr) return Verdict::kHopeless;
    const auto found = parsed.Find(object->doc());
    const bool met = std::ranges::any_of(
        found, [&](const auto* one) { return any || codec::FormatResult(*one) == value; });
    return met ? Verdict::kMet : Verdict::kPending;
  });
}

Result<std::vector<Target>> Expand(Session& session, const Options& options) {
  ASSIGN_OR_RETURN(auto targets, ParseTargets(options.targets));
  ASSIGN_OR_RETURN(auto* client, session.Connect());
  std::vector<Target> expanded;
  for (auto& target : targets) {
    if (!target.name.empty()) {
      expanded.push_back(std::move(target));
      continue;
    }
    if (options.selector.empty() && !options.all)
      return Error{Reason::kBadRequest, "which " + std::string(target.kind->resource) + "?",
                   "name them, choose by labels with -l, or take --all"};
    ASSIGN_OR_RETURN(const auto listed,
                     ListObjects(*client, {std::string(target.kind->kind),
                                           target.kind->namespaced ? session.ns() : "", options.selector}));
    for (const auto& object : listed.objects) expanded.push_back({target.kind, object.key().name});
  }
  return expanded;
}

// Without it a name that was never there would look like one that can't be met.
Result<void> CheckPresence(Session& session, const std::vector<Target>& targets) {
  ASSIGN_OR_RETURN(auto* client, session.Connect());
  for (const auto& target : targets) {
    const auto object = GetObject(*client, KeyOf(target, session.ns()));
    if (!object.ok()) return object.error();
  }
  return {};
}

int Report(Session& session, const std::vector<Target>& targets, const std::vector<Verdict>& verdicts,
           const std::string& wanted) {
  int code = kOk;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (verdicts[i] == Verdict::kMet) continue;
    const std::string name = std::string(targets[i].kind->resource) + "/" + targets[i].name;
    code = session.Fail(verdicts[i] == Verdict::kPending
                            ? Error{Reason::kTimeout, "timed out waiting for " + wanted + " on " + name}
                            : Error{Reason::kInvalid, name + " will not come to " + wanted + " any more",
                                    "tfemu describe " + std::string(targets[i].kind->singular) + " " +
                                        targets[i].name + " says why"});
  }
  return code;
}

int Wait(Session& session, const Options& options) {
  const auto judge = ParseWaitFor(options.wanted);
  if (!judge.ok()) return session.Usage(judge.error().message, judge.error().hint);
  const auto timeout = ParseTimeout(options.timeout);
  if (!timeout.ok()) return session.Usage(timeout.error().message, timeout.error().hint);
  const auto targets = Expand(session, options);
  if (!targets.ok())
    return targets.error().reason == Reason::kBadRequest
               ? session.Usage(targets.error().message, targets.error().hint)
               : session.Fail(targets.error());
  const bool may_be_absent = options.wanted == "delete" || options.wanted == "create";
  if (!may_be_absent)
    if (const auto present = CheckPresence(session, targets.value()); !present.ok())
      return session.Fail(present.error());
  if (targets.value().empty() && !may_be_absent)
    return session.Fail(Error{Reason::kNotFound, "no matching objects found"});
  std::vector<Awaited> awaited;
  for (const auto& target : targets.value())
    awaited.push_back({KeyOf(target, session.ns()), judge.value(), [&session, &target, &options] {
                         session.terminal.Print(
                             DisplayName(*target.kind, target.name) +
                             (options.wanted == "delete" ? " deleted\n" : " condition met\n"));
                       }});
  const auto verdicts = Await(session, awaited, timeout.value());
  if (!verdicts.ok()) return session.Fail(verdicts.error());
  return Report(session, targets.value(), verdicts.value(), options.wanted);
}

}  // namespace

Result<Judge> ParseWaitFor(const std::string& wanted) {
  if (wanted == "delete")
    return Judge(
        [](const api::Object* object) { return object == nullptr ? Verdict::kMet : Verdict::kPending; });
  if (wanted == "create")
    return Judge(
        [](const api::Object* object) { return object != nullptr ? Verdict::kMet : Verdict::kPending; });
  if (wanted.starts_with("condition=") && wanted.size() > 10) return JudgeCondition(wanted.substr(10));
  if (wanted.starts_with("jsonpath=")) return JudgePath(wanted.substr(9));
  return Error{Reason::kBadRequest, "cannot wait for \"" + wanted + "\"",
               "write --for=condition=Succeeded, --for=delete, --for=create or "
               "--for=jsonpath='{.status.phase}'=Running"};
}

void AddWait(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto* verb = app.add_subcommand("wait", "Wait until objects are in a condition, or gone");
  verb->add_option("target", options->targets, "KIND NAME... or KIND/NAME...")->required();
  verb->add_option("--for", options->wanted, "condition=NAME[=VALUE], delete, create, jsonpath=PATH[=VALUE]")
      ->required();
  verb->add_option("-l,--selector", options->selector, "All objects with these labels");
  verb->add_flag("--all", options->all, "All objects of the kind");
  verb->add_option("--timeout", options->timeout, "How long: 90s, 10m; negative: for ever (30s)");
  verb->footer(
      "Examples:\n  tfemu wait tfjob/tf-mnist-gpu --for=condition=Succeeded --timeout=10m\n"
      "  tfemu wait deployment/tensorboard --for=condition=Available\n"
      "  tfemu wait pod/web-0 --for=delete\n"
      "  tfemu wait pod/web-0 --for=jsonpath='{.status.phase}'=Running");
  verb->callback([=, &session] { session.action = [&session, options] { return Wait(session, *options); }; });
}

}  // namespace tfemu::cli
