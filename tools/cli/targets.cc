#include "tools/cli/targets.h"

#include <algorithm>

#include "emulator/base/strings.h"

namespace tfemu::cli {
namespace {

// What `get all` shows: the workloads, as kubectl's category of that name.
constexpr std::string_view kAll[] = {"Pod",         "Service", "DaemonSet", "Deployment", "ReplicaSet",
                                     "StatefulSet", "CronJob", "Job",       "TFJob"};

// Two neighbours in the wrong order are one slip, not two.
size_t TypingDistance(const std::string& typed, const std::string& meant) {
  size_t best = EditDistance(typed, meant);
  for (size_t i = 0; i + 1 < typed.size(); ++i) {
    std::string swapped = typed;
    std::swap(swapped[i], swapped[i + 1]);
    best = std::min(best, 1 + EditDistance(swapped, meant));
  }
  return best;
}

std::vector<std::string> KindWords() {
  std::vector<std::string> words;
  for (const auto& kind : api::Kinds()) {
    words.emplace_back(kind.resource);
    words.emplace_back(kind.singular);
  }
  return words;
}

Result<std::vector<const api::Kind*>> ParseKinds(const std::string& list) {
  std::vector<const api::Kind*> kinds;
  for (const auto& word : Split(list, ',')) {
    if (word == "all") {
      for (const auto kind : kAll) kinds.push_back(api::FindKind(kind));
      continue;
    }
    ASSIGN_OR_RETURN(const auto* kind, ParseKind(word));
    kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace

std::string Closest(const std::string& word, const std::vector<std::string>& words) {
  const auto distance = [&](const std::string& other) { return TypingDistance(ToLower(word), other); };
  const auto best = std::ranges::min_element(words, {}, distance);
  if (best == words.end() || word.empty()) return {};
  return distance(*best) <= std::max<size_t>(1, word.size() / 3) ? *best : std::string();
}

Result<const api::Kind*> ParseKind(const std::string& word) {
  if (const auto* kind = api::FindResource(word)) return kind;
  const std::string closest = Closest(word, KindWords());
  std::vector<std::string> names;
  for (const auto& kind : api::Kinds()) names.emplace_back(kind.resource);
  return Error{Reason::kBadRequest, "unknown kind \"" + word + "\"",
               closest.empty() ? "the kinds are: " + Join(names, ", ") : "did you mean \"" + closest + "\"?"};
}

Result<Target> ParseTarget(const std::string& word, std::string_view default_kind) {
  const size_t slash = word.find('/');
  if (slash == std::string::npos) return Target{api::FindKind(default_kind), word};
  ASSIGN_OR_RETURN(const auto* kind, ParseKind(word.substr(0, slash)));
  if (slash + 1 == word.size())
    return Error{Reason::kBadRequest, "\"" + word + "\" lacks a name after the slash"};
  return Target{kind, word.substr(slash + 1)};
}

Result<std::vector<Target>> ParseTargets(const std::vector<std::string>& words) {
  std::vector<Target> targets;
  const bool slashed =
      std::ranges::any_of(words, [](const auto& word) { return word.find('/') != std::string::npos; });
  if (slashed) {
    for (const auto& word : words) {
      if (word.find('/') == std::string::npos)
        return Error{Reason::kBadRequest, "\"" + word + "\" lacks its kind",
                     "write KIND/NAME for all of them, or KIND NAME NAME..."};
      ASSIGN_OR_RETURN(auto target, ParseTarget(word, ""));
      targets.push_back(std::move(target));
    }
    return targets;
  }
  if (words.empty()) return Error{Reason::kBadRequest, "which kind?", "for example: pods, tfjobs, all"};
  ASSIGN_OR_RETURN(const auto kinds, ParseKinds(words.front()));
  if (words.size() == 1)
    for (const auto* kind : kinds) targets.push_back({kind, ""});
  for (size_t i = 1; i < words.size(); ++i)
    for (const auto* kind : kinds) targets.push_back({kind, words[i]});
  return targets;
}

std::string DisplayName(const api::Kind& kind, const std::string& name) {
  const size_t slash = kind.api_version.find('/');
  std::string text(kind.singular);
  if (slash != std::string_view::npos) text += "." + std::string(kind.api_version.substr(0, slash));
  return text + "/" + name;
}

api::ObjectKey KeyOf(const Target& target, const std::string& ns) {
  return {std::string(target.kind->kind), target.kind->namespaced ? ns : "", target.name};
}

}  // namespace tfemu::cli
