// v1.ResourceQuota: what the objects of a namespace may ask for together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emulator/api/meta.h"
#include "emulator/api/quantity.h"
#include "emulator/api/validation.h"

namespace tfemu::api {

struct ResourceQuota {
  ObjectMeta meta;
  Resources hard;
  Resources status_hard, status_used;
};

ResourceQuota DecodeResourceQuota(const Object& object);
std::vector<FieldMessage> ValidateResourceQuota(const Json& quota, const Json* previous);
// Of the status: what is counted of `hard` and how much of it `used` is.
Json QuotaStatusPatch(const Resources& hard, const Resources& used);

// What an object counts for, by the names that quotas use ("pods", "requests.cpu", "limits.memory",
// "requests.nvidia.com/gpu", "count/tfjobs.kubeflow.org"). A pod that has ended asks for nothing.
Resources QuotaUsage(const Object& object);
// What `objects` count for together, of each resource in `hard`, those with nothing included.
Resources QuotaUsed(const Resources& hard, std::span<const Object> objects);

// Why a new object is refused where `used` of the quota is taken, in the words of the quota admission of
// Kubernetes 1.33; "" when it is not.
std::string QuotaProblem(const ResourceQuota& quota, const Object& object, const Resources& used);

}  // namespace tfemu::api
