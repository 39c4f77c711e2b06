#include "emulator/controllers/quota_reconciler.h"

#include <nlohmann/json.hpp>

namespace tfemu::controllers {

Plan ReconcileQuota(const QuotaObservation& observed) {
  const api::ResourceQuota& quota = observed.quota;
  const api::Resources used = api::QuotaUsed(quota.hard, observed.objects);
  if (quota.status_hard == quota.hard && quota.status_used == used) return {};
  Plan plan;
  plan.actions.push_back(PatchObject{{"ResourceQuota", quota.meta.ns, quota.meta.name},
                                     quota.meta.uid,
                                     "/status",
                                     api::Object(api::QuotaStatusPatch(quota.hard, used))});
  return plan;
}

}  // namespace tfemu::controllers
