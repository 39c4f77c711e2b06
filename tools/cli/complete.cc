#include "tools/cli/complete.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "emulator/api/scheme.h"
#include "emulator/rpc/client.h"
#include "tools/cli/image_verbs.h"
#include "tools/cli/objects.h"
#include "tools/cli/parse.h"
#include "tools/cli/targets.h"

namespace tfemu::cli {
namespace {

using Words = std::vector<std::string>;

bool OneOf(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

Words KindNames() {
  Words names;
  for (const auto& kind : api::Kinds()) {
    names.emplace_back(kind.singular);
    names.emplace_back(kind.resource);
    for (const auto name : kind.short_names) names.emplace_back(name);
  }
  return names;
}

Words ObjectNames(Session& session, const api::Kind& kind, const std::string& prefix = {}) {
  Words names;
  const auto client = session.Connect();
  if (!client.ok()) return names;
  const auto listed =
      ListObjects(*client.value(), {std::string(kind.kind), kind.namespaced ? session.ns() : "", ""});
  if (!listed.ok()) return names;
  for (const auto& object : listed.value().objects) names.push_back(prefix + object.key().name);
  return names;
}

Words ClusterNames(Session& session) {
  Words names;
  const auto home = session.Home();
  std::error_code error;
  if (home.ok())
    for (const auto& entry : std::filesystem::directory_iterator(home.value(), error))
      if (entry.is_directory(error) && rpc::CheckClusterName(entry.path().filename()).ok())
        names.push_back(entry.path().filename());
  return names;
}

Words ImageReferences(Session& session) {
  Words references;
  const auto client = session.Connect();
  if (!client.ok()) return references;
  const auto reply = client.value()->Call(&rpc::Stub::ListImages, rpc::v1::ListImagesRequest());
  if (!reply.ok()) return references;
  for (const auto& image : reply.value().images())
    for (const auto& reference : image.references())
      if (reference.find_first_of("*?") == std::string::npos) references.push_back(reference);
  return references;
}

// KIND/NAME under the cursor: names of that kind; else pods and the kinds that stand for some.
Words PodsAndWorkloads(Session& session, const std::string& word, std::initializer_list<const char*> kinds) {
  if (const size_t slash = word.find('/'); slash != std::string::npos) {
    const auto* kind = api::FindResource(word.substr(0, slash));
    return kind == nullptr ? Words() : ObjectNames(session, *kind, word.substr(0, slash + 1));
  }
  Words words = ObjectNames(session, *api::FindKind("Pod"));
  for (const char* kind : kinds) words.push_back(std::string(kind) + "/");
  return words;
}

Words Targets(Session& session, const Words& arguments, const std::string& word) {
  if (const size_t slash = word.find('/'); slash != std::string::npos)
    return PodsAndWorkloads(session, word, {});
  if (arguments.empty()) {
    Words words = KindNames();
    words.push_back("all");
    return words;
  }
  const auto* kind = api::FindResource(arguments.front());
  return kind == nullptr ? Words() : ObjectNames(session, *kind);
}

Words FlagValues(Session& session, const std::string& flag) {
  if (OneOf(flag, {"-n", "--namespace"})) return ObjectNames(session, *api::FindKind("Namespace"));
  if (flag == "--cluster") return ClusterNames(session);
  if (OneOf(flag, {"-o", "--output"})) return {"wide", "yaml", "json", "name", "jsonpath="};
  if (OneOf(flag, {"-f", "--filename", "--config", "--junit"})) return {"@files"};
  if (flag == "--logs") return {"@dirs"};
  if (flag == "--total") return {"mean", "sum", "max", "min"};
  if (flag == "--set") return {"Worker.replicas=", "PS.replicas=", "arg:--batch_size=", "env:"};
  if (flag == "--isolation") return {"auto", "root", "rootless", "plain"};
  if (flag == "--for")
    return {"condition=Succeeded", "condition=Available", "condition=Ready", "delete", "create", "jsonpath="};
  if (flag == "--cascade") return {"background", "foreground", "orphan"};
  if (flag == "--dry-run") return {"none", "client", "server"};
  if (flag == "--types") return {"Warning", "Normal"};
  return {};
}

Words Arguments(Session& session, const std::string& verb, const Words& arguments, const std::string& word) {
  if (OneOf(verb, {"get", "describe", "delete", "wait"})) return Targets(session, arguments, word);
  if (verb == "logs" && arguments.empty())
    return PodsAndWorkloads(session, word, {"tfjob", "job", "deployment", "replicaset"});
  if (verb == "exec" && arguments.empty()) return PodsAndWorkloads(session, word, {"deployment"});
  if (verb == "port-forward" && arguments.empty())
    return PodsAndWorkloads(session, word, {"deployment", "service", "job", "tfjob"});
  if (verb == "scale") {
    if (word.find('/') != std::string::npos) return PodsAndWorkloads(session, word, {});
    return {"deployment/", "replicaset/", "tfjob/"};
  }
  if (OneOf(verb, {"run", "sweep"})) return {"@files"};
  if (verb == "completion") return {"bash", "zsh", "fish"};
  if (verb == "image") {
    if (arguments.empty()) return {"ls", "inspect", "check", "prepare", "add", "rm", "prune"};
    if (OneOf(arguments.front(), {"check", "add"})) return {"@files"};
    if (arguments.front() == "rm") return AddedImages(session);
    if (OneOf(arguments.front(), {"inspect", "prepare"})) return ImageReferences(session);
  }
  return {};
}

// Words that are not flags, and whether the one being typed is a flag's value.
struct Parsed {
  Words plain;
  std::string awaiting;  // the flag whose value is being typed
  std::string ns, cluster;
};

Parsed Sort(const Words& words, const FlagTable& flags) {
  Parsed parsed;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with('-') || word == "-") {
      parsed.plain.push_back(word);
      continue;
    }
    const bool takes_value = flags.with_value.contains(word);
    if (takes_value && i + 2 == words.size()) parsed.awaiting = word;
    if (OneOf(word, {"-n", "--namespace"})) parsed.ns = words[i + 1];
    if (word == "--cluster") parsed.cluster = words[i + 1];
    if (takes_value) ++i;
  }
  return parsed;
}

}  // namespace

std::vector<std::string> Complete(const Words& words, Session& session) {
  const std::string word = words.empty() ? "" : words.back();
  const FlagTable flags = FlagsOf(words);
  const Parsed parsed = Sort(words, flags);
  // Where names come from.
  if (!parsed.ns.empty() && parsed.awaiting.empty()) session.flags.ns = parsed.ns;
  if (!parsed.cluster.empty() && parsed.awaiting.empty()) session.flags.cluster = parsed.cluster;
  Words candidates;
  const bool sweeps = !parsed.plain.empty() && parsed.plain.front() == "sweep";
  if (parsed.awaiting == "--output" && sweeps) candidates = {"@dirs"};
  else if (!parsed.awaiting.empty()) candidates = FlagValues(session, parsed.awaiting);
  else if (word.starts_with('-')) candidates = flags.names;
  else if (parsed.plain.empty()) candidates = VerbNames();
  else
    candidates =
        Arguments(session, parsed.plain.front(), {parsed.plain.begin() + 1, parsed.plain.end()}, word);
  std::erase_if(candidates, [&](const auto& one) { return !one.starts_with('@') && !one.starts_with(word); });
  return candidates;
}

}  // namespace tfemu::cli
