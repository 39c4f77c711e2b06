#include "tests/sim/workload.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/batch_job.h"
#include "emulator/api/pod.h"
#include "emulator/api/tfjob.h"
#include "emulator/api/workload.h"
#include "tests/sim/manifests.h"
#include "tests/sim/scenarios.h"

namespace tfemu::sim {
namespace {

using namespace std::chrono_literals;
using api::Json;
using Verdict = std::function<std::string(const SimHost&, bool)>;

const api::Object* Find(const SimHost& host, const std::string& kind, const std::string& name) {
  const auto found = host.disk().objects().find({kind, "default", name});
  return found == host.disk().objects().end() ? nullptr : &found->second;
}

// `either`: what a program's being killed by a fault may make of it, too.
Verdict EndsAs(const std::string& name, const std::string& condition, const std::string& either = "") {
  return [=](const SimHost& host, bool lossy) -> std::string {
    const api::Object* object = Find(host, "TFJob", name);
    if (object == nullptr) return "TFJob " + name + " is gone";
    const api::TFJobStatus& status = object->As(api::DecodeTFJob).status;
    if (status.Has(condition) || (lossy && !either.empty() && status.Has(either))) return "";
    return "TFJob " + name + " is not " + condition +
           (status.conditions.empty()
                ? ""
                : ", but " + status.conditions.back().type + ": " + status.conditions.back().message);
  };
}

Verdict Gone(const std::string& kind, const std::string& name) {
  return [=](const SimHost& host, bool) {
    return Find(host, kind, name) == nullptr ? "" : kind + " " + name + " is still there";
  };
}

class Drawer {
 public:
  explicit Drawer(Rng rng) : rng_(rng) {}

  std::vector<Wish> Draw() {
    std::vector<Wish> wishes;
    const uint64_t count = 1 + rng_.Below(5);
    for (uint64_t i = 0; i < count; ++i) {
      name_ = "w" + std::to_string(i);
      begin_ = 1ms * rng_.Below(60'000);
      wishes.push_back(One());
    }
    return wishes;
  }

 private:
  using Make = Wish (Drawer::*)();

  Wish One() {
    static constexpr Make kMakes[] = {
        &Drawer::Training, &Drawer::Training, &Drawer::Failing,   &Drawer::Retried, &Drawer::Exhausted,
        &Drawer::Late,     &Drawer::Brief,    &Drawer::Suspended, &Drawer::Waiting, &Drawer::Dynamic,
        &Drawer::Deleted,  &Drawer::Batch,    &Drawer::Hopeless,  &Drawer::Serving, &Drawer::Alone};
    return (this->*kMakes[rng_.Below(std::size(kMakes))])();
  }

  std::string Number(int least, int most) {
    return std::to_string(least + static_cast<int>(rng_.Below(static_cast<uint64_t>(most - least + 1))));
  }
  std::string Run(int least, int most) { return "run=" + Number(least, most); }
  int Count(int most) { return 1 + static_cast<int>(rng_.Below(static_cast<uint64_t>(most))); }
  template <size_t N>
  const char* Pick(const char* const (&words)[N]) {
    return words[rng_.Below(N)];
  }
  // With which pods of an ended job do not hold devices.
  Json Cleaning(bool gpus = false) {
    return {{"cleanPodPolicy", gpus ? Pick({"Running", "All"}) : Pick({"Running", "All", "None"})}};
  }
  std::string Stubborn() { return rng_.Below(4) == 0 ? " stubborn" : ""; }

  Wish Asked(const std::string& what, Json manifest, Verdict verdict) {
    return {what + " " + name_ + ": " + manifest.dump(),
            {{begin_, Create(std::move(manifest))}},
            std::move(verdict)};
  }
  Wish AskedJob(const std::string& what, const std::vector<Replicas>& replicas, const Json& policy,
                Verdict verdict) {
    return Asked(what, MakeTFJob(name_, replicas, policy), std::move(verdict));
  }
  api::ObjectKey Key(const std::string& kind = "TFJob") const { return {kind, "default", name_}; }
  Duration Later(int most) { return begin_ + 1ms * rng_.Below(static_cast<uint64_t>(most) * 1000); }

  Wish Training() {
    const int gpus = rng_.Below(3) == 0 ? 1 : 0;
    std::vector<Replicas> replicas = {{"Worker", Count(3), "Never", {Run(1, 40)}, gpus}};
    if (rng_.Below(2) == 0) replicas.push_back({Pick({"Chief", "Master"}), 1, "Never", {Run(5, 40)}, gpus});
    if (rng_.Below(2) == 0)
      replicas.push_back({"PS", Count(2), Pick({"Never", "Always"}), {"forever" + Stubborn()}});
    if (rng_.Below(4) == 0) replicas.push_back({"Evaluator", 1, "Never", {"forever"}});
    return AskedJob("training", replicas, Cleaning(gpus > 0), EndsAs(name_, "Succeeded", "Failed"));
  }

  Wish Failing() {
    const bool by_code = rng_.Below(2) == 0;
    return AskedJob(
        "failing",
        {{"Worker", Count(3), by_code ? "ExitCode" : "Never", {Run(1, 20) + " exit=" + Number(1, 3)}},
         {"PS", 1, "Never", {"forever"}}},
        Cleaning(), EndsAs(name_, "Failed"));
  }

  Wish Retried() {
    Steps steps;
    const bool by_code = rng_.Below(2) == 0;
    const int failures = Count(3);
    for (int i = 0; i < failures; ++i)
      steps.push_back(by_code              ? Run(1, 8) + " exit=" + Pick({"130", "137", "143"})
                      : rng_.Below(4) == 0 ? std::string("broken")
                                           : Run(1, 8) + " exit=" + Number(1, 200));
    steps.push_back(Run(1, 20));
    return AskedJob("retried", {{"Worker", Count(3), by_code ? "ExitCode" : "OnFailure", steps}}, Cleaning(),
                    EndsAs(name_, "Succeeded"));
  }

  Wish Exhausted() {
    Json policy = Cleaning();
    policy["backoffLimit"] = Count(2);
    return AskedJob("exhausted", {{"Worker", Count(2), "OnFailure", {Run(1, 5) + " exit=1"}}}, policy,
                    EndsAs(name_, "Failed"));
  }

  Wish Late() {
    Json policy = Cleaning();
    policy["activeDeadlineSeconds"] = 5 + static_cast<int>(rng_.Below(60));
    return AskedJob("late", {{"Worker", Count(3), "Never", {"forever" + Stubborn()}}}, policy,
                    EndsAs(name_, "Failed"));
  }

  Wish Brief() {
    Json policy = Cleaning();
    policy["ttlSecondsAfterFinished"] = rng_.Below(60);
    return AskedJob("brief", {{"Worker", Count(3), "Never", {Run(1, 20)}}}, policy, Gone("TFJob", name_));
  }

  Wish Suspended() {
    Wish wish = AskedJob("suspended", {{"Worker", Count(3), "Never", {Run(10, 40)}}}, Cleaning(),
                         EndsAs(name_, "Succeeded", "Failed"));
    const Duration pause = Later(15);
    const auto suspend = [](bool on) -> Json { return {{"spec", {{"runPolicy", {{"suspend", on}}}}}}; };
    wish.steps.push_back({pause, Patch(Key(), suspend(true))});
    wish.steps.push_back({pause + 1ms * rng_.Below(60'000), Patch(Key(), suspend(false))});
    return wish;
  }

  Wish Waiting() {
    Json policy = Cleaning();
    policy["suspend"] = true;
    return AskedJob("waiting", {{"Worker", Count(3), "Never", {Run(1, 40)}}}, policy,
                    EndsAs(name_, "Suspended"));
  }

  Wish Dynamic() {
    Json job = MakeTFJob(name_, {{"Worker", Count(3), "OnFailure", {"run=50"}}}, Cleaning());
    job["spec"]["enableDynamicWorker"] = true;
    Wish wish = Asked("dynamic", job, EndsAs(name_, "Succeeded", "Failed"));
    for (int i = 0; i < 2; ++i)
      wish.steps.push_back(
          {Later(40),
           Patch(Key(), {{"spec", {{"tfReplicaSpecs", {{"Worker", {{"replicas", Count(5)}}}}}}}})});
    return wish;
  }

  Wish Deleted() {
    Wish wish = AskedJob(
        "deleted", {{"Worker", Count(3), "Never", {"forever" + Stubborn()}}, {"PS", 1, "Never", {"forever"}}},
        Cleaning(), Gone("TFJob", name_));
    wish.steps.push_back({Later(30), Delete(Key())});
    return wish;
  }

  Wish Batch() {
    Steps steps(rng_.Below(3), Run(1, 5) + " exit=1");
    steps.push_back(Run(1, 10));
    const int completions = Count(4);
    Json spec = {{"completions", completions}, {"parallelism", Count(3)}, {"backoffLimit", 6}};
    if (rng_.Below(2) == 0) spec["completionMode"] = "Indexed";
    return Asked("batch", MakeJob(name_, spec, steps, Pick({"Never", "OnFailure"})),
                 Finished("Complete", completions));
  }

  Wish Hopeless() {
    return Asked("hopeless", MakeJob(name_, {{"backoffLimit", Count(2)}}, {Run(1, 5) + " exit=1"}),
                 Finished("Failed", 0));
  }

  Verdict Finished(const std::string& condition, int succeeded) {
    return [=, name = name_](const SimHost& host, bool lossy) -> std::string {
      const api::Object* object = Find(host, "Job", name);
      if (object == nullptr) return "Job " + name + " is gone";
      const api::BatchJobStatus& status = object->As(api::DecodeBatchJob).status;
      if (lossy && status.Is("Failed")) return "";
      if (!status.Is(condition)) return "Job " + name + " is not " + condition;
      return status.succeeded == succeeded ? ""
                                           : "Job " + name + " counts " + std::to_string(status.succeeded) +
                                                 " of " + std::to_string(succeeded);
    };
  }

  Wish Serving() {
    int replicas = Count(4);
    const std::string steps = Pick({"forever", "forever slow=2", "forever stubborn"});
    Wish wish = Asked("serving", MakeDeployment(name_, replicas, "1", {steps}), {});
    if (rng_.Below(2) == 0)
      wish.steps.push_back(
          {Later(40),
           Patch(Key("Deployment"),
                 {{"spec", {{"template", {{"metadata", {{"annotations", {{"version", "2"}}}}}}}}}})});
    if (rng_.Below(2) == 0) {
      replicas = Count(5);
      wish.steps.push_back({Later(40), Patch(Key("Deployment"), {{"spec", {{"replicas", replicas}}}})});
    }
    wish.verdict = [replicas, name = name_](const SimHost& host, bool) -> std::string {
      const api::Object* object = Find(host, "Deployment", name);
      if (object == nullptr) return "Deployment " + name + " is gone";
      const api::DeploymentStatus& status = object->As(api::DecodeDeployment).status;
      if (status.replicas == replicas && status.updated_replicas == replicas &&
          status.available_replicas == replicas)
        return "";
      return "Deployment " + name + " has " + std::to_string(status.available_replicas) + " of " +
             std::to_string(replicas);
    };
    if (rng_.Below(4) == 0) {
      wish.steps.push_back({begin_ + 50s, Delete(Key("Deployment"))});
      wish.verdict = Gone("Deployment", name_);
    }
    return wish;
  }

  Wish Alone() {
    const std::string policy = Pick({"Never", "OnFailure", "Always"});
    const Steps steps = policy == "Always"      ? Steps{Run(1, 5) + " exit=1", "forever" + Stubborn()}
                        : policy == "OnFailure" ? Steps{"broken", Run(1, 5) + " exit=1", Run(1, 30)}
                                                : Steps{Run(1, 30)};
    Wish wish =
        Asked("alone", MakePod(name_, policy, steps),
              [policy, name = name_](const SimHost& host, bool lossy) -> std::string {
                const api::Object* object = Find(host, "Pod", name);
                if (object == nullptr) return "Pod " + name + " is gone";
                const std::string phase(ToString(object->As(api::DecodePod).status.phase));
                if (phase == (policy == "Always" ? "Running" : "Succeeded")) return "";
                return lossy && policy == "Never" && phase == "Failed" ? "" : "Pod " + name + " is " + phase;
              });
    if (rng_.Below(3) != 0) return wish;
    wish.steps.push_back({Later(40), Delete(Key("Pod"))});
    wish.verdict = Gone("Pod", name_);
    return wish;
  }

  Rng rng_;
  std::string name_;
  Duration begin_{0};
};

}  // namespace

std::vector<Wish> DrawWorkload(Rng rng) { return Drawer(rng).Draw(); }

}  // namespace tfemu::sim
