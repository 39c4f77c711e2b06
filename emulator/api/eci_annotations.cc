#include "emulator/api/eci_annotations.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/eci_settings.h"
#include "emulator/api/gpu.h"
#include "emulator/api/quantity.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

using F = EciFidelity;

std::vector<std::string> ListItems(const std::string& text) {
  std::vector<std::string> items;
  for (const std::string& part : Split(text, ','))
    if (const auto item = Trim(part); !item.empty()) items.emplace_back(item);
  return items;
}

std::string Specs(const std::string& value) {
  const auto items = ListItems(value);
  if (items.empty()) return "names no instance type";
  if (items.size() > 5) return "has " + std::to_string(items.size()) + " items, at most 5 are tried";
  int gpu = 0, other = 0;
  for (const std::string& item : items) {
    const auto spec = ParseEciSpec(item);
    if (!spec.ok()) return spec.error().message + "; " + spec.error().hint;
    ++(spec.value().gpus() > 0 ? gpu : other);
  }
  return gpu > 0 && other > 0 ? "types with GPUs and types without must not be mixed" : "";
}

std::string Families(const std::string& value) {
  for (const std::string& item : ListItems(value)) {
    const auto known = [&](const EciType& type) { return type.eci && type.family == item; };
    if (std::ranges::none_of(EciTypes(), known))
      return "instance family " + item + " is not in the catalogue";
  }
  return "";
}

template <size_t N>
std::string OneOf(const std::string& value, const std::array<std::string_view, N>& words) {
  if (std::ranges::find(words, value) != words.end()) return "";
  std::string list;
  for (const auto word : words) list += (list.empty() ? "" : ", ") + std::string(word);
  return "must be one of " + list;
}

std::string YesNo(const std::string& v) { return OneOf(v, std::array<std::string_view, 2>{"true", "false"}); }
std::string Category(const std::string& v) {
  return OneOf(v, std::array<std::string_view, 2>{"general", "economy"});
}
std::string Strategy(const std::string& v) {
  return OneOf(v, std::array<std::string_view, 2>{"VSwitchOrdered", "VSwitchRandom"});
}
std::string Spot(const std::string& v) {
  return OneOf(v, std::array<std::string_view, 3>{"SpotAsPriceGo", "SpotWithPriceLimit", "NoSpot"});
}
std::string Fail(const std::string& v) {
  return OneOf(v, std::array<std::string_view, 3>{"fail-back", "fail-over", "fail-fast"});
}

std::string Between(const std::string& value, int64_t least, int64_t most) {
  const auto number = ParseInt(value);
  if (number && *number >= least && *number <= most) return "";
  return "must be a number from " + std::to_string(least) + " to " + std::to_string(most);
}
std::string PendingMinutes(const std::string& v) { return Between(v, 10, 1440); }
std::string SpotHours(const std::string& v) { return Between(v, 0, 1); }
std::string Mbits(const std::string& v) { return Between(v, 1, 1000); }
std::string Hours(const std::string& v) { return Between(v, 1, 24 * 365); }

std::string Amount(const std::string& value) {
  const auto quantity = ParseQuantity(value);
  return quantity && quantity->milli > 0 ? "" : "must be an amount such as 50Gi";
}

std::string Price(const std::string& value) {
  char* end = nullptr;
  const double price = std::strtod(value.c_str(), &end);
  const size_t dot = value.find('.');
  const bool fine = dot == std::string::npos || value.size() - dot - 1 <= 3;
  return end != value.c_str() && *end == '\0' && price > 0 && fine ? ""
                                                                   : "must be a price with up to 3 decimals";
}

std::string Driver(const std::string& value) {
  return value.starts_with("tesla=") && value.size() > 6 ? "" : "must be of the form tesla=535";
}

std::string Groups(const std::string& value) {
  return ListItems(value).size() <= 5 ? "" : "at most 5 security groups";
}

constexpr std::string_view kNoVpc = "there is no VPC: pods have addresses of this host's own network";
constexpr const char* kReplaced = "is written by the system; this value is replaced";
constexpr std::string_view kNoInternet = "pods have no way to the internet";
constexpr std::string_view kNoDisk = "files lie on this host's disk";
constexpr std::string_view kNoRegistry = "nothing is pulled: an image is a folder of this host";

constexpr EciAnnotation kAnnotations[] = {
    // clang-format off
    {"k8s.aliyun.com/eci-use-specs", "spec", F::kHonoured, "candidates are tried in order", "2-4Gi,ecs.c6.xlarge", "ecs.nothing.large", Specs},
    {"k8s.aliyun.com/eci-instance-family", "spec", F::kHonoured, "the smallest type of the first family that holds the pod", "ecs.c6,ecs.g6", "ecs.zz9", Families},
    {"k8s.aliyun.com/eci-instance-generation", "spec", F::kHonoured, "narrows eci-instance-family and the choice of types", "7,6", "", nullptr},
    {"k8s.aliyun.com/eci-compute-category", "spec", F::kHonoured, "the price of a pod without a type; written back", "economy", "cheap", Category},
    {"k8s.aliyun.com/eci-gpu-driver-version", "spec", F::kApproximated, "virtual GPUs show it as their driver's version; a real driver is the host's", "tesla=535", "535", Driver},
    {"k8s.aliyun.com/eci-core-pattern", "spec", F::kIgnored, "core dumps go where the host's kernel sends them", "/pod/data/core", "", nullptr},
    {"k8s.aliyun.com/eci-ntp-server", "spec", F::kIgnored, "pods have the host's clock", "100.100.5.1", "", nullptr},
    {"k8s.aliyun.com/eci-vswitch", "place", F::kApproximated, "their number is the number of zones tried", "vsw-a,vsw-b", "", nullptr},
    {"k8s.aliyun.com/eci-schedule-strategy", "place", F::kHonoured, "the order in which zones are tried", "VSwitchRandom", "Random", Strategy},
    {"k8s.aliyun.com/eci-security-group", "place", F::kIgnored, kNoVpc, "sg-1,sg-2", "a,b,c,d,e,f", Groups},
    {"k8s.aliyun.com/eci-privatepool-matchcriteria", "place", F::kIgnored, "there are no private pools", "Open", "", nullptr},
    {"k8s.aliyun.com/eci-privatepool-id", "place", F::kIgnored, "there are no private pools", "eap-1", "", nullptr},
    {"k8s.aliyun.com/eci-spot-strategy", "spot", F::kApproximated, "said in describe; the pod is not reclaimed and its price is the full one", "SpotAsPriceGo", "Cheap", Spot},
    {"k8s.aliyun.com/eci-spot-price-limit", "spot", F::kApproximated, "checked; there is no spot market", "0.25", "0.0001", Price},
    {"k8s.aliyun.com/eci-spot-duration", "spot", F::kApproximated, "checked; the pod is not reclaimed", "1", "7", SpotHours},
    {"k8s.aliyun.com/eci-spot-fallback", "spot", F::kApproximated, "checked; there is no spot market", "true", "maybe", YesNo},
    {"k8s.aliyun.com/eci-spot-release-strategy", "spot", F::kIgnored, "the pod is not reclaimed", "api-evict", "", nullptr},
    {"k8s.aliyun.com/eci-fail-strategy", "failure", F::kHonoured, "fail-fast fails the pod when nothing is in stock; the others try again", "fail-fast", "fail-later", Fail},
    {"k8s.aliyun.com/eci-max-pending-minute", "failure", F::kHonoured, "after that the pod fails (timeScale shortens it)", "30", "5", PendingMinutes},
    {"k8s.aliyun.com/eci-eviction-enable", "failure", F::kIgnored, "pods are not evicted", "true", "1", YesNo},
    {"k8s.aliyun.com/eci-image-cache", "image", F::kApproximated, "not in ECI's present list: taken as eci-auto-imc", "true", "yes", YesNo},
    {"k8s.aliyun.com/eci-imc-id", "image", F::kHonoured, "the modelled pull takes no time", "imc-2zebxkiifuyzzlhl", "", nullptr},
    {"k8s.aliyun.com/imc-id", "image", F::kHonoured, "the modelled pull takes no time", "imc-2zebxkiifuyzzlhl", "", nullptr},
    {"k8s.aliyun.com/eci-auto-imc", "image", F::kHonoured, "the modelled pull takes no time when the cluster has a cache of the image", "true", "yes", YesNo},
    {"k8s.aliyun.com/imc-perfect-match", "image", F::kApproximated, "a cache holds whole images only", "true", "yes", YesNo},
    {"k8s.aliyun.com/imc-match-count-request", "image", F::kApproximated, "a cache holds whole images only", "1", "", nullptr},
    {"k8s.aliyun.com/acr-instance-ids", "image", F::kIgnored, kNoRegistry, "cri-1", "", nullptr},
    {"k8s.aliyun.com/acr-service-arns", "image", F::kIgnored, kNoRegistry, "acs:ram::1:role/a", "", nullptr},
    {"k8s.aliyun.com/acr-user-arns", "image", F::kIgnored, kNoRegistry, "acs:ram::1:role/b", "", nullptr},
    {"k8s.aliyun.com/plain-http-registry", "image", F::kIgnored, kNoRegistry, "harbor.local", "", nullptr},
    {"k8s.aliyun.com/insecure-registry", "image", F::kIgnored, kNoRegistry, "harbor.local", "", nullptr},
    {"k8s.aliyun.com/eci-data-cache-bucket", "image", F::kIgnored, "there are no data caches: mount a volume", "test", "", nullptr},
    {"k8s.aliyun.com/eci-data-cache-pl", "image", F::kIgnored, kNoDisk, "PL1", "", nullptr},
    {"k8s.aliyun.com/eci-data-cache-provisionedIops", "image", F::kIgnored, kNoDisk, "40000", "", nullptr},
    {"k8s.aliyun.com/eci-data-cache-burstingEnabled", "image", F::kIgnored, kNoDisk, "true", "", nullptr},
    {"k8s.aliyun.com/eci-extra-ephemeral-storage", "disk", F::kApproximated, "checked and shown; the disk is this host's, with no limit", "50Gi", "much", Amount},
    {"k8s.aliyun.com/eci-ephemeral-storage-options", "disk", F::kIgnored, kNoDisk, "{\"encrypted\":\"true\"}", "", nullptr},
    {"k8s.aliyun.com/eci-ram-role-name", "role", F::kIgnored, "there is no RAM", "role", "", nullptr},
    {"k8s.aliyun.com/eci-sls-enable", "role", F::kIgnored, "logs are read with tfemu logs", "false", "0", YesNo},
    {"k8s.aliyun.com/eci-custom-hosts", "role", F::kIgnored, "use hostAliases", "10.0.0.1 a", "", nullptr},
    {"k8s.aliyun.com/eci-custom-tags", "role", F::kApproximated, "kept on the pod; there is nothing else to tag", "env:test", "", nullptr},
    {"k8s.aliyun.com/eci-with-eip", "network", F::kIgnored, kNoInternet, "true", "1", YesNo},
    {"k8s.aliyun.com/eip-bandwidth", "network", F::kIgnored, kNoInternet, "5", "fast", Mbits},
    {"k8s.aliyun.com/eip-common-bandwidth-package-id", "network", F::kIgnored, kNoInternet, "cbwp-1", "", nullptr},
    {"k8s.aliyun.com/eip-isp", "network", F::kIgnored, kNoInternet, "BGP", "", nullptr},
    {"k8s.aliyun.com/eip-internet-charge-type", "network", F::kIgnored, kNoInternet, "PayByTraffic", "", nullptr},
    {"k8s.aliyun.com/eip-public-ip-address-pool-id", "network", F::kIgnored, kNoInternet, "pippool-1", "", nullptr},
    {"k8s.aliyun.com/eci-eip-instanceid", "network", F::kIgnored, kNoInternet, "eip-1", "", nullptr},
    {"k8s.aliyun.com/eci-enable-ipv6", "network", F::kIgnored, "pods have IPv4 addresses only", "true", "1", YesNo},
    {"k8s.aliyun.com/eci-ipv6-bandwidth", "network", F::kIgnored, "pods have IPv4 addresses only", "100", "x", Mbits},
    {"k8s.aliyun.com/eci-ipv6-bandwidth-enable", "network", F::kIgnored, "pods have IPv4 addresses only", "true", "1", YesNo},
    {"k8s.aliyun.com/eci-private-ip-address", "network", F::kRefused, "an address of a VPC that is not here; another program would look for the pod there", "192.168.0.5", "", nullptr},
    {"k8s.aliyun.com/eci-fixed-ip", "network", F::kIgnored, "a pod's address goes with it", "true", "1", YesNo},
    {"k8s.aliyun.com/eci-fixed-ip-retain-hour", "network", F::kIgnored, "a pod's address goes with it", "48", "0", Hours},
    {"k8s.aliyun.com/eci-custom-dnsconfig", "network", F::kIgnored, "the cluster's DNS settings are used", "{}", "", nullptr},
    {"kubernetes.io/ingress-bandwidth", "network", F::kIgnored, "the network is as fast as this host", "40M", "fast", Amount},
    {"kubernetes.io/egress-bandwidth", "network", F::kIgnored, "the network is as fast as this host", "20M", "fast", Amount},
    {"k8s.aliyun.com/eci-instance-id", "added", F::kAdded, "when the instance is made", "", "", nullptr},
    {"k8s.aliyun.com/eci-request-id", "added", F::kAdded, "when the instance is made", "", "", nullptr},
    {"k8s.aliyun.com/eci-instance-spec", "added", F::kAdded, "what is billed: a type, or 2.0-4.0Gi", "", "", nullptr},
    {"k8s.aliyun.com/eci-instance-compute-category", "added", F::kAdded, "general or economy", "", "", nullptr},
    {"k8s.aliyun.com/eci-schedule-result", "added", F::kAdded, "the zone and the candidate that were chosen", "", "", nullptr},
    {"k8s.aliyun.com/eci-matched-image-cache", "added", F::kAdded, "the cache that was used", "", "", nullptr},
    {"k8s.aliyun.com/eci-created-by-template", "added", F::kAdded, "true for pods of a workload", "", "", nullptr},
    {"k8s.aliyun.com/eci-vpc", "added", F::kApproximated, "never written: there is no VPC", "vpc-1", "", nullptr},
    {"k8s.aliyun.com/eni-instance-id", "added", F::kApproximated, "never written: there is no ENI", "eni-1", "", nullptr},
    {"k8s.aliyun.com/allocated-eipInstanceId", "added", F::kApproximated, "never written: there is no EIP", "eip-1", "", nullptr},
    {"k8s.aliyun.com/allocated-eipAddress", "added", F::kApproximated, "never written: there is no EIP", "1.2.3.4", "", nullptr},
    {"k8s.aliyun.com/allocated-ipv6Address", "added", F::kApproximated, "never written: there is no IPv6", "::1", "", nullptr},
    // clang-format on
};

const EciAnnotation* Find(const std::string& key) {
  const auto it = std::ranges::find(kAnnotations, key, &EciAnnotation::key);
  return it == std::end(kAnnotations) ? nullptr : &*it;
}

std::string NearKey(const std::string& key) {
  const auto near = std::ranges::min_element(
      kAnnotations, {}, [&](const EciAnnotation& row) { return EditDistance(key, row.key); });
  return EditDistance(key, near->key) <= 3 ? "; did you mean " + std::string(near->key) + "?" : "";
}

void CheckOne(const EciAnnotation& row, const std::string& at, const std::string& value, EciFindings& found) {
  const std::string problem = row.problem == nullptr ? "" : row.problem(value);
  if (!problem.empty()) {
    found.errors.push_back({at, "Invalid value: \"" + value + "\": " + problem});
    return;
  }
  switch (row.fidelity) {
    case F::kHonoured:
    case F::kApproximated: return;
    case F::kIgnored: return found.warnings.push_back({at, "not honoured: " + std::string(row.note)});
    case F::kRefused: return found.errors.push_back({at, "Forbidden: " + std::string(row.note)});
    case F::kAdded: return found.warnings.push_back({at, kReplaced});
  }
}

}  // namespace

std::span<const EciAnnotation> EciAnnotations() { return kAnnotations; }

EciFindings CheckEciAnnotations(const nlohmann::json& metadata, const std::string& path, bool fresh) {
  EciFindings found;
  const auto& annotations = Member(metadata, "annotations");
  if (!annotations.is_object()) return found;
  const auto text = [&](const char* key) { return Text(annotations, std::string(kEciPrefix) + key); };
  for (const auto& [key, value] : annotations.items()) {
    const std::string at = path + ".annotations." + key;
    const EciAnnotation* row = Find(key);
    if (fresh && (key == kGpuAnnotation || key == kEciPriceAnnotation))
      found.warnings.push_back({at, kReplaced});
    if (row != nullptr && row->fidelity == F::kAdded && !fresh) continue;
    if (row != nullptr && value.is_string()) CheckOne(*row, at, value.get<std::string>(), found);
    else if (row == nullptr && key.starts_with(kEciPrefix))
      found.warnings.push_back({at, "is not an annotation that ECI knows" + NearKey(key)});
  }
  const std::string prefix = path + ".annotations." + std::string(kEciPrefix);
  if (text("eci-spot-strategy") == "SpotWithPriceLimit" && text("eci-spot-price-limit").empty())
    found.errors.push_back({prefix + "eci-spot-strategy", "SpotWithPriceLimit needs eci-spot-price-limit"});
  if (!text("eci-spot-price-limit").empty() && text("eci-spot-strategy") != "SpotWithPriceLimit")
    found.errors.push_back({prefix + "eci-spot-price-limit", "needs eci-spot-strategy SpotWithPriceLimit"});
  if (text("eci-image-cache") == "false" && text("eci-auto-imc") == "true")
    found.errors.push_back({prefix + "eci-image-cache", "contradicts eci-auto-imc"});
  return found;
}

bool NamesGpuInstance(const nlohmann::json& metadata) {
  const auto items =
      ListItems(Text(Member(metadata, "annotations"), std::string(kEciPrefix) + "eci-use-specs"));
  return std::ranges::any_of(items, [](const std::string& item) {
    const auto spec = ParseEciSpec(item);
    return spec.ok() && spec.value().gpus() > 0;
  });
}

void RemoveSystemAnnotations(nlohmann::json& pod) {
  if (!Member(Member(pod, "metadata"), "annotations").is_object()) return;
  nlohmann::json& annotations = pod["metadata"]["annotations"];
  for (const EciAnnotation& row : kAnnotations)
    if (row.fidelity == F::kAdded) annotations.erase(std::string(row.key));
  annotations.erase(kGpuAnnotation);
  annotations.erase(kEciPriceAnnotation);
}

EciRequest EciRequestOf(const ObjectMeta& pod) {
  const auto text = [&](const char* key) {
    const auto it = pod.annotations.find(std::string(kEciPrefix) + key);
    return it == pod.annotations.end() ? std::string() : it->second;
  };
  EciRequest request;
  for (const std::string& item : ListItems(text("eci-use-specs")))
    if (const auto spec = ParseEciSpec(item); spec.ok()) request.specs.push_back(spec.value());
  request.families = ListItems(text("eci-instance-family"));
  request.generations = ListItems(text("eci-instance-generation"));
  request.economy = text("eci-compute-category") == "economy";
  request.image_cache_id = text("eci-imc-id").empty() ? text("imc-id") : text("eci-imc-id");
  request.image_cache =
      !request.image_cache_id.empty() || text("eci-auto-imc") == "true" || text("eci-image-cache") == "true";
  request.fail_fast = text("eci-fail-strategy") == "fail-fast";
  request.max_pending_minutes = static_cast<int>(ParseInt(text("eci-max-pending-minute")).value_or(240));
  request.random_zone = text("eci-schedule-strategy") == "VSwitchRandom";
  return request;
}

EciPlacement EciPlacementOf(const ObjectMeta& pod) {
  const auto label = [&](const char* key) {
    const auto it = pod.labels.find(key);
    return it == pod.labels.end() ? std::string() : it->second;
  };
  const std::string burst = label("alibabacloud.com/burst-resource");
  if (label("alibabacloud.com/eci") == "true" || burst == "eci_only") return EciPlacement::kAlways;
  return burst == "eci" ? EciPlacement::kWhenFull : EciPlacement::kNever;
}

}  // namespace tfemu::api
