// Rules about TFJobs: which conditions may stand beside which, and which may follow.
#include <nlohmann/json.hpp>

#include "emulator/api/tfjob.h"
#include "tests/sim/checker.h"

namespace tfemu::sim {
namespace {

const api::TFJob* AsJob(const api::Object* object) {
  if (object == nullptr || object->key().kind != "TFJob") return nullptr;
  return &object->As(api::DecodeTFJob);
}

class Conditions final : public Checker {
 public:
  explicit Conditions(Complaints& complaints)
      : Checker("a TFJob is in one state, and its end is final", complaints) {}
  void OnWrite(const api::Object* before, const api::Object& after, store::Revision) override {
    const api::TFJob *old = AsJob(before), *job = AsJob(&after);
    if (job == nullptr) return;
    const api::TFJobStatus& now = job->status;
    if (now.Has("Running") && now.Has("Restarting")) Complain(job->meta.name + " runs and restarts");
    if (now.Has("Succeeded") && now.Has("Failed")) Complain(job->meta.name + " succeeded and failed");
    if (now.finished() && (now.Has("Running") || now.Has("Restarting")))
      Complain(job->meta.name + " has ended and goes on");
    if (now.finished() != now.completion_time.has_value() && now.Has("Succeeded"))
      Complain(job->meta.name + " succeeded without a time");
    if (old == nullptr || old->meta.uid != job->meta.uid) return;
    for (const char* end : {"Succeeded", "Failed"})
      if (old->status.Has(end) && !now.Has(end)) Complain(job->meta.name + " is no longer " + end);
    if (!old->status.conditions.empty() && now.conditions.empty())
      Complain(job->meta.name + " has lost its conditions");
  }
};

}  // namespace

Checkers JobCheckers(Complaints& complaints) {
  Checkers list;
  list.push_back(std::make_unique<Conditions>(complaints));
  return list;
}

}  // namespace tfemu::sim
