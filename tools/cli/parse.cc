#include "tools/cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tools/cli/complete.h"
#include "tools/cli/targets.h"
#include "tools/cli/verbs.h"
#include "tools/cli/version.h"

namespace tfemu::cli {
namespace {

constexpr std::string_view kCompleteWord = "__complete";

using AddVerb = void (*)(CLI::App&, Session&);
constexpr AddVerb kVerbs[] = {AddUp,    AddDown,     AddInfo,  AddDoctor,  AddApply,
                              AddGet,   AddDescribe, AddLogs,  AddExec,    AddPortForward,
                              AddScale, AddDelete,   AddWait,  AddEvents,  AddRun,
                              AddSweep, AddTop,      AddImage, AddVersion, AddCompletion};

std::vector<std::string> Names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

void Build(CLI::App& app, Session& session) {
  app.name("tfemu");
  app.add_option("--cluster", session.flags.cluster, "Which cluster ($TFEMU_CLUSTER, else default)");
  app.add_option("-n,--namespace", session.flags.ns, "Which namespace (default)");
  app.add_flag("-q,--quiet", session.flags.quiet, "No progress, no notes; results and errors only");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(
      "tfemu VERB --help shows a verb's flags and examples.\nA first job: tfemu up --gpus 2 && tfemu apply "
      "-f "
      "tf-mnist-gpu.yaml && tfemu logs tfjob/tf-mnist-gpu -f");
  for (const AddVerb add : kVerbs) add(app, session);
  for (auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) verb->fallthrough();
}

// The first word that is no flag: CLI11 would call an unknown verb an extra argument.
std::string FirstWord(const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--cluster" || word == "-n" || word == "--namespace") ++i;
    else if (!word.starts_with('-')) return word;
  }
  return {};
}

const CLI::App& Deepest(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : Deepest(*parsed.front());
}

int ExplainExtras(const CLI::App& app, const std::string& message, Session& session) {
  const CLI::App& verb = Deepest(app);
  std::string path = verb.get_name();
  for (const auto* parent = verb.get_parent(); parent != nullptr; parent = parent->get_parent())
    path = parent->get_name() + " " + path;
  const std::vector<std::string> extras = app.remaining(true);
  if (extras.empty()) return session.Usage(message, path + " --help");
  const std::string word = extras.front().substr(0, extras.front().find('='));
  if (!word.starts_with('-'))
    return session.Usage("one argument too many: \"" + word + "\"", path + " --help");
  std::vector<std::string> flags;
  for (const auto* level = &verb; level != nullptr; level = level->get_parent())
    for (const auto* option : level->get_options())
      for (const auto& name : option->get_lnames()) flags.push_back("--" + name);
  const std::string closest = Closest(word, flags);
  return session.Usage("unknown flag " + word,
                       closest.empty() ? path + " --help" : "did you mean " + closest + "?");
}

// CLI11's texts begin with an upper-case letter and may end with a period; ours do not.
std::string Plain(std::string message) {
  if (!message.empty() && message.back() == '.') message.pop_back();
  if (message.find("A subcommand is required") != std::string::npos) return "which verb?";
  return message;
}

}  // namespace

std::vector<std::string> VerbNames() {
  Session session([](const std::string&) { return std::string(); }, {});
  CLI::App app;
  Build(app, session);
  return Names(app);
}

FlagTable FlagsOf(const std::vector<std::string>& words) {
  Session session([](const std::string&) { return std::string(); }, {});
  CLI::App app;
  Build(app, session);
  FlagTable table;
  const auto add = [&table](const CLI::App& level) {
    for (const auto* option : level.get_options()) {
      for (const auto& name : option->get_lnames()) table.names.push_back("--" + name);
      if (option->get_items_expected_max() == 0) continue;
      for (const auto& name : option->get_lnames()) table.with_value.insert("--" + name);
      for (const auto& name : option->get_snames()) table.with_value.insert("-" + name);
    }
  };
  add(app);
  const auto names = Names(app);
  for (const auto& word : words)
    if (std::ranges::find(names, word) != names.end()) {
      add(*app.get_subcommand(word));
      break;
    }
  return table;
}

int RunCommandLine(const std::vector<std::string>& arguments, Session& session) {
  // Asked by the shells' completion at every key: not a verb, so that no help lists it.
  if (!arguments.empty() && arguments.front() == kCompleteWord) {
    for (const auto& candidate : Complete({arguments.begin() + 1, arguments.end()}, session))
      session.terminal.Print(candidate + "\n");
    return kOk;
  }
  CLI::App app("Run Kubeflow TFJobs on this host, without Kubernetes and without a container engine.");
  Build(app, session);
  const auto names = Names(app);
  const std::string verb = FirstWord(arguments);
  if (!verb.empty() && std::ranges::find(names, verb) == names.end()) {
    const std::string closest = Closest(verb, names);
    return session.Usage("unknown verb \"" + verb + "\"", closest.empty()
                                                              ? "tfemu --help lists the verbs"
                                                              : "did you mean \"" + closest + "\"?");
  }
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    session.terminal.Print(Deepest(app).help());
    return kOk;
  } catch (const CLI::CallForVersion&) {
    session.terminal.Print(std::string("tfemu ") + kVersion + "\n");
    return kOk;
  } catch (const CLI::ExtrasError& error) {
    return ExplainExtras(app, Plain(error.what()), session);
  } catch (const CLI::ParseError& error) {
    const std::string name = Deepest(app).get_name();
    return session.Usage(Plain(error.what()), (name == "tfemu" ? "tfemu" : "tfemu " + name) + " --help");
  }
  session.terminal.SetQuiet(session.flags.quiet);
  return session.action();
}

}  // namespace tfemu::cli
