#include "tests/sim/run.h"

#include <nlohmann/json.hpp>

#include "emulator/base/time_format.h"
#include "tests/sim/checker.h"
#include "tests/sim/fault_plan.h"
#include "tests/sim/manifests.h"
#include "tests/sim/workload.h"

namespace tfemu::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kConverged = kSafety + 45min;  // the longest back-off of a batch Job is 6 minutes
constexpr Duration kIdle = kConverged + 10min;

// Everything that happens, as one number; and as lines, for whoever wants to read them.
class Trace final : public Observer {
 public:
  explicit Trace(std::FILE* out) : out_(out) {}
  void set_host(const SimHost& host) { host_ = &host; }
  uint64_t hash() const { return hash_; }
  uint64_t writes() const { return writes_; }

  void OnWrite(const api::Object* before, const api::Object& after, store::Revision revision) override {
    ++writes_;
    Add(before == nullptr ? "create" : "update", ToString(after.key()), revision);
    hash_ = Fnv1a(after.doc().dump(), hash_);
    if (out_ != nullptr) std::fprintf(out_, "    %s\n", Summary(after).c_str());
  }
  void OnErase(const api::Object& last, store::Revision revision) override {
    ++writes_;
    Add("remove", ToString(last.key()), revision);
  }
  void OnPodEvent(const runtime::PodEvent& event) override {
    static constexpr const char* kTypes[] = {"sandbox ready", "sandbox failed", "started",   "start failed",
                                             "exited",        "pod stopped",    "volume use"};
    const runtime::PodLaunch* launch = host_->runtime().Launched(event.uid);
    Add(kTypes[static_cast<int>(event.type)],
        (launch == nullptr ? event.uid : launch->name) + "/" + event.container + "#" +
            std::to_string(event.attempt) + " exit " + std::to_string(event.exit_code),
        event.sequence);
  }
  void OnSupervisorDied() override { Add("supervisor", "died", 0); }
  void OnBoot() override { Add("daemon", "started", 0); }

 private:
  static std::string Summary(const api::Object& object) {
    if (object.key().kind == "Event") return object.doc().value("reason", "");
    return object.doc().contains("status") ? object.doc().at("status").dump().substr(0, 300) : "";
  }
  void Add(const std::string& what, const std::string& of, uint64_t number) {
    const Duration now = host_ == nullptr ? Duration(0) : host_->now();
    const std::string line =
        std::to_string(now.count() / 1000) + "us " + what + " " + of + " " + std::to_string(number);
    hash_ = Fnv1a(line, hash_);
    if (out_ != nullptr) std::fprintf(out_, "%s\n", line.c_str());
  }

  std::FILE* out_;
  const SimHost* host_ = nullptr;
  uint64_t hash_ = Fnv1a(""), writes_ = 0;
};

std::string Describe(uint64_t seed, const FaultPlan& faults, const std::vector<Wish>& wishes) {
  std::string text = "seed " + std::to_string(seed) + ": " + faults.Text();
  for (const Wish& wish : wishes) {
    text += "  " + wish.text.substr(0, wish.text.find(':')) + " at";
    for (const auto& step : wish.steps) text += " " + std::to_string(step.at / 1ms) + "ms";
    text += wish.text.substr(wish.text.find(':')) + "\n";
  }
  return text;
}

void Judge(const SimHost& host, const std::vector<Wish>& wishes, bool lossy, Complaints& complaints) {
  CheckQuiet(host, complaints);
  for (const Wish& wish : wishes)
    if (const std::string why = wish.verdict(host, lossy); !why.empty())
      complaints.Add("a job comes to the end its programs imply", why);
}

}  // namespace

Report RunSeed(uint64_t seed, std::FILE* out) {
  const Rng rng(seed);
  const FaultPlan faults = DrawFaults(rng.Fork("faults"));
  const std::vector<Wish> wishes = DrawWorkload(rng.Fork("workload"));
  Complaints complaints;
  const Checkers checkers = AllCheckers(complaints);
  Trace trace(out);
  std::vector<Observer*> observers = {&trace};
  for (const auto& checker : checkers) observers.push_back(checker.get());

  SimHost host({.seed = seed, .nodes = MakeNodes(3, 2), .downtime = faults.downtime, .observers = observers});
  trace.set_host(host);
  Carry(faults, host, rng.Fork("faults on the way"));
  for (const Wish& wish : wishes)
    for (const auto& step : wish.steps) host.DoAt(step.at, step.deed);
  host.Boot();
  host.RunUntil(kConverged);
  Judge(host, wishes, faults.loses_pods(), complaints);
  const uint64_t writes = trace.writes();
  host.RunUntil(kIdle);
  if (trace.writes() != writes)
    complaints.Add("work ends", std::to_string(trace.writes() - writes) + " writes after all was done");
  return {Describe(seed, faults, wishes), complaints.list(), trace.hash(), host.gate().points() / 2,
          host.boots()};
}

}  // namespace tfemu::sim
