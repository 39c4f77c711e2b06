#include "emulator/api/resource_quota.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "emulator/api/decode.h"
#include "emulator/api/pod.h"
#include "emulator/api/scheme.h"
#include "emulator/api/volume.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

constexpr Quantity kOne{1000};

bool InBytes(std::string_view resource) {
  return resource.ends_with("memory") || resource.ends_with("storage");
}

std::string Show(std::string_view resource, Quantity quantity) {
  return FormatQuantity(quantity, InBytes(resource));
}

void CountPod(const Object& object, Resources& usage) {
  const Pod& pod = object.As(DecodePod);
  if (pod.finished()) return;
  usage["pods"] = kOne;
  const auto add = [&](const std::string& prefix, const Resources& amounts) {
    for (const auto& [name, amount] : amounts) usage[prefix + name] = amount;
  };
  const Resources requests = PodRequests(pod.spec);
  add("requests.", requests);
  for (const char* name : {"cpu", "memory", "ephemeral-storage"})
    if (requests.contains(name)) usage[name] = requests.at(name);
  PodSpec limits = pod.spec;
  for (auto* list : {&limits.init_containers, &limits.containers})
    for (Container& container : *list) container.requests = container.limits;
  Resources limited = PodRequests(limits);
  std::erase_if(limited, [](const auto& one) { return one.first.find('/') != std::string::npos; });
  add("limits.", limited);
}

void CountClaim(const Object& object, Resources& usage) {
  const PersistentVolumeClaim claim = DecodePersistentVolumeClaim(object);
  usage["requests.storage"] = claim.request;
  const std::string of_class = claim.storage_class.value_or("");
  if (of_class.empty()) return;
  usage[of_class + ".storageclass.storage.k8s.io/requests.storage"] = claim.request;
  usage[of_class + ".storageclass.storage.k8s.io/persistentvolumeclaims"] = kOne;
}

// Which containers leave open what the quota counts, by resource.
std::string Unspecified(const ResourceQuota& quota, const Pod& pod) {
  std::map<std::string, std::set<std::string>> missing;
  for (const auto* list : {&pod.spec.containers, &pod.spec.init_containers})
    for (const Container& container : *list)
      for (const auto& [resource, amount] : quota.hard) {
        const bool limit = resource.starts_with("limits.");
        const std::string name =
            limit || resource.starts_with("requests.") ? resource.substr(resource.find('.') + 1) : resource;
        const bool extended = name.find('/') != std::string::npos && name != resource;
        if (name != "cpu" && name != "memory" && !extended) continue;
        if (!(limit ? container.limits : container.requests).contains(name))
          missing[resource].insert(container.name);
      }
  std::string text;
  for (const auto& [resource, containers] : missing)
    text += (text.empty() ? "" : "; ") + resource +
            " for: " + Join(std::vector<std::string>(containers.begin(), containers.end()), ",");
  return text;
}

}  // namespace

ResourceQuota DecodeResourceQuota(const Object& object) {
  const Json& status = Member(object.doc(), "status");
  return {DecodeMeta(object), DecodeResources(Member(Member(object.doc(), "spec"), "hard")),
          DecodeResources(Member(status, "hard")), DecodeResources(Member(status, "used"))};
}

std::vector<FieldMessage> ValidateResourceQuota(const Json& quota, const Json*) {
  Messages messages;
  CheckMeta(quota, messages);
  const Json& hard = Member(Member(quota, "spec"), "hard");
  if (!hard.is_object()) return messages;
  for (const auto& [resource, amount] : hard.items()) {
    const auto quantity = DecodeQuantity(amount);
    if (quantity && quantity->milli < 0)
      messages.push_back({"spec.hard[" + resource + "]", "Invalid value: \"" + Show(resource, *quantity) +
                                                             "\": must be greater than or equal to 0"});
  }
  return messages;
}

Json QuotaStatusPatch(const Resources& hard, const Resources& used) {
  Json patch = Json::object();
  for (const auto& [resource, amount] : hard) {
    patch["hard"][resource] = Show(resource, amount);
    patch["used"][resource] = Show(resource, used.contains(resource) ? used.at(resource) : Quantity{});
  }
  return patch;
}

Resources QuotaUsage(const Object& object) {
  const Kind* kind = FindKind(object.key().kind);
  if (kind == nullptr) return {};
  Resources usage{{"count/" + QualifiedResource(*kind), kOne}};
  if (kind->kind == "Pod") CountPod(object, usage);
  else if (kind->api_version == "v1") usage[std::string(kind->resource)] = kOne;
  if (kind->kind == "PersistentVolumeClaim") CountClaim(object, usage);
  return usage;
}

Resources QuotaUsed(const Resources& hard, std::span<const Object> objects) {
  Resources used;
  for (const auto& [resource, amount] : hard) used[resource] = {};
  for (const Object& object : objects)
    for (const auto& [resource, amount] : QuotaUsage(object))
      if (const auto counted = used.find(resource); counted != used.end())
        counted->second = counted->second + amount;
  return used;
}

std::string QuotaProblem(const ResourceQuota& quota, const Object& object, const Resources& used) {
  if (object.key().kind == "Pod")
    if (const std::string open = Unspecified(quota, object.As(DecodePod)); !open.empty())
      return "failed quota: " + quota.meta.name + ": must specify " + open;
  std::string requested, taken, limited;
  for (const auto& [resource, amount] : QuotaUsage(object)) {
    const auto limit = quota.hard.find(resource);
    if (limit == quota.hard.end() || used.at(resource) + amount <= limit->second) continue;
    const auto append = [&resource = resource](std::string& text, Quantity quantity) {
      text += (text.empty() ? "" : ",") + resource + "=" + Show(resource, quantity);
    };
    append(requested, amount);
    append(taken, used.at(resource));
    append(limited, limit->second);
  }
  if (requested.empty()) return "";
  return "exceeded quota: " + quota.meta.name + ", requested: " + requested + ", used: " + taken +
         ", limited: " + limited;
}

}  // namespace tfemu::api
