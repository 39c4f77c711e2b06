// GPUs as documents, models by name, and what containers ask for.
#include "emulator/api/gpu.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "emulator/api/gpu_models.h"
#include "emulator/api/gpu_request.h"

namespace tfemu::api {
namespace {

Pod PodAsking(const Resources& limits) {
  Pod pod;
  pod.spec.containers.push_back({});
  pod.spec.containers[0].name = "c";
  pod.spec.containers[0].limits = limits;
  return pod;
}

TEST_CASE("a node's GPUs survive their annotation") {
  NodeGpus gpus{MakeVirtualGpus({"A100", 2, 3, 0, {"1g.10gb"}}).value(),
                {GpuSharing::Mode::kMemory, 4, true}};
  gpus.devices[0].health = "xid:79";
  CHECK(DecodeGpus(EncodeGpus(gpus)) == gpus);
}

TEST_CASE("what a pod holds survives its annotation; nonsense is nothing") {
  const GpuShares shares{{"a", {{"GPU-1", 0, 0}, {"GPU-2", 1024, 30}}}};
  ObjectMeta meta;
  meta.annotations[kGpuAnnotation] = EncodeGpuShares(shares);
  CHECK(GpuSharesOf(meta) == shares);
  for (const char* text : {"", "{", "[]", "{\"a\": 1}", "null"}) {
    meta.annotations[kGpuAnnotation] = text;
    CHECK(GpuSharesOf(meta).empty());
  }
}

TEST_CASE("models are found by any of their names, and near ones are named") {
  for (const char* name : {"A10", "a10", "NVIDIA A10", "nvidia-a10"})
    CHECK(FindGpuModel(name).value()->name == "A10");
  const auto unknown = FindGpuModel("A11");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().hint.find("A10") != std::string::npos);
}

TEST_CASE("no two virtual GPUs have one UUID, and none could be a real one") {
  std::set<std::string> uuids;
  for (const int first : {0, 4}) {
    const auto gpus = MakeVirtualGpus({"A30", 4, first, 0, {"1g.6gb", "1g.6gb"}});
    for (const Gpu& gpu : gpus.value()) {
      CHECK(uuids.insert(gpu.uuid).second);
      CHECK(gpu.uuid.size() == std::string("GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx").size());
      CHECK(gpu.is_virtual());
    }
  }
}

TEST_CASE("MIG profiles that a GPU does not have, or too many, are refused") {
  CHECK(MakeVirtualGpus({"A10", 1, 0, 0, {"1g.5gb"}}).error().hint == "this model has no MIG");
  CHECK_FALSE(MakeVirtualGpus({"A100-40GB", 1, 0, 0, {"3g.20gb", "3g.20gb", "2g.10gb"}}).ok());
}

TEST_CASE("the ways of asking for GPUs") {
  using Claims = std::vector<GpuClaim>;
  constexpr int64_t kGiB = int64_t{1} << 30;
  CHECK(GpuClaimsOf(PodAsking({{"cpu", {1000}}})).empty());
  CHECK(GpuClaimsOf(PodAsking({{"nvidia.com/gpu", {2000}}})) == Claims{{"c", GpuClaim::Type::kGpu, 2}});
  CHECK(GpuClaimsOf(PodAsking({{"nvidia.com/mig-1g.5gb", {1000}}})) ==
        Claims{{"c", GpuClaim::Type::kMig, 1, "1g.5gb"}});
  CHECK(GpuClaimsOf(PodAsking({{"aliyun.com/gpu-mem", {8000}}})) ==
        Claims{{"c", GpuClaim::Type::kMemory, 1, "", 8 * kGiB}});
  CHECK(GpuClaimsOf(PodAsking({{"nvidia.com/gpumem", {2048'000}}, {"nvidia.com/gpucores", {30'000}}})) ==
        Claims{{"c", GpuClaim::Type::kMemory, 1, "", 2 * kGiB, 0, 30}});
  Pod spread = PodAsking({{"aliyun.com/gpu-mem", {8000}}});
  spread.meta.labels["aliyun.com/gpu-count"] = "2";
  CHECK(GpuClaimsOf(spread) == Claims{{"c", GpuClaim::Type::kMemory, 2, "", 4 * kGiB}});
}

TEST_CASE("contradictions are refused where they stand") {
  const auto check = [](const char* limits) {
    const auto doc = nlohmann::json::parse(std::string(R"({"resources": {"limits": )") + limits + "}}");
    const auto messages = CheckGpuResources(doc, "spec.containers[0]");
    return messages.empty() ? std::string() : messages.front().field;
  };
  CHECK(check(R"({"nvidia.com/gpu": 1})").empty());
  CHECK(check(R"({"nvidia.com/gpucores": 101})") ==
        "spec.containers[0].resources.limits.nvidia.com/gpucores");
  CHECK(check(R"({"nvidia.com/gpumem": 1, "nvidia.com/gpumem-percentage": 5})") ==
        "spec.containers[0].resources.limits.nvidia.com/gpumem-percentage");
  CHECK(check(R"({"nvidia.com/gpu": 1, "aliyun.com/gpu-mem": 1})") ==
        "spec.containers[0].resources.limits.aliyun.com/gpu-mem");
}

}  // namespace
}  // namespace tfemu::api
