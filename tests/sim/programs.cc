#include "tests/sim/programs.h"

#include <algorithm>
#include <sstream>

#include "emulator/base/check.h"
#include "emulator/base/strings.h"

namespace tfemu::sim {
namespace {

std::string AttemptKey(const std::string& uid, const std::string& container, int attempt) {
  return uid + "/" + container + "/" + std::to_string(attempt);
}

}  // namespace

runtime::Script ParseStep(const std::string& words) {
  runtime::Script script;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const int64_t number = equals == std::string::npos ? 0 : ParseInt(word.substr(equals + 1)).value_or(0);
    if (name == "run") script.run_for = std::chrono::seconds(number);
    else if (name == "slow") script.start_after = std::chrono::seconds(number);
    else if (name == "exit") script.exit_code = static_cast<int>(number);
    else if (name == "stubborn") script.ignores_sigterm = true;
    else if (name == "broken") script.start_error = "exec: no such file or directory";
    else CHECK_THAT(name == "forever");
  }
  return script;
}

runtime::Script Programs::Next(const runtime::PodLaunch& pod, const runtime::ContainerLaunch& container) {
  if (container.argv.size() < 3 || container.argv[0] != "sim") return {};
  const std::string key =
      container.argv[1].empty() ? pod.ns + "/" + pod.name + "/" + container.name : container.argv[1];
  const size_t steps = container.argv.size() - 2;
  const runtime::Script script = ParseStep(container.argv[2 + std::min(done_[key], steps - 1)]);
  runs_[AttemptKey(pod.uid, container.name, container.attempt)] = {key, script, {}};
  return script;
}

void Programs::OnPodEvent(const runtime::PodEvent& event) {
  using Type = runtime::PodEvent::Type;
  const auto found = runs_.find(AttemptKey(event.uid, event.container, event.attempt));
  if (found == runs_.end()) return;
  Run& run = found->second;
  if (event.type == Type::kContainerStarted) {
    run.begun = event.at;
    return;
  }
  const bool failed = event.type == Type::kContainerStartFailed && event.message == run.script.start_error;
  const bool ended = event.type == Type::kContainerExited && run.script.run_for &&
                     event.at == run.begun + *run.script.run_for && event.exit_code == run.script.exit_code;
  if (failed || ended) ++done_[run.key];
  if (event.type == Type::kContainerExited || failed) runs_.erase(found);
}

}  // namespace tfemu::sim
