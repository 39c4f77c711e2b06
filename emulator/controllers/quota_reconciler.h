// Keeps a ResourceQuota's status: what of it is used.
#pragma once

#include <vector>

#include "emulator/api/resource_quota.h"
#include "emulator/controllers/action.h"

namespace tfemu::controllers {

struct QuotaObservation {
  api::ResourceQuota quota;
  std::vector<api::Object> objects;  // all of the namespace
};

Plan ReconcileQuota(const QuotaObservation& observed);

}  // namespace tfemu::controllers
