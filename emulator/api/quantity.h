// resource.Quantity: "500m", "4Gi", "1e3", 16 (apimachinery pkg/api/resource).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace tfemu::api {

// In thousandths of the resource's unit: 1000 is one CPU, one byte, one GPU. Rounded up, as Kubernetes does.
struct Quantity {
  int64_t milli = 0;
  int64_t Units() const { return milli / 1000 + (milli % 1000 > 0 ? 1 : 0); }
  friend auto operator<=>(const Quantity&, const Quantity&) = default;
  friend Quantity operator+(Quantity a, Quantity b) { return {a.milli + b.milli}; }
  friend Quantity operator-(Quantity a, Quantity b) { return {a.milli - b.milli}; }
};

// Resource name -> quantity, such as {"cpu": 500m, "nvidia.com/gpu": 1}.
using Resources = std::map<std::string, Quantity>;

std::optional<Quantity> ParseQuantity(std::string_view text);
// A JSON string or number; nullopt when it is neither or does not parse.
std::optional<Quantity> DecodeQuantity(const nlohmann::json& value);
Resources DecodeResources(const nlohmann::json& value);  // skips what does not parse: validation reports it
// Canonical, with a binary suffix when `binary` and exact: "5Gi", "1500m", "3".
std::string FormatQuantity(Quantity quantity, bool binary);

void Add(Resources& sum, const Resources& more);

}  // namespace tfemu::api
