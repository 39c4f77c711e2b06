// Which GPUs a pod gets: links, shares, instances, and nothing twice.
#include "scheduler/gpus.h"

#include <doctest/doctest.h>

#include "emulator/api/gpu_models.h"

namespace tfemu::scheduler {
namespace {

using api::GpuClaim;

api::NodeGpus Node(const std::string& model, int count, api::GpuSharing sharing = {}) {
  return {api::MakeVirtualGpus({model, count, 0, 0, {}}).value(), sharing};
}

GpuClaim Whole(int count, const std::string& container = "c") {
  return {container, GpuClaim::Type::kGpu, count};
}

GpuClaim Share(int64_t gib, int count = 1, int cores = 0) {
  return {"c", GpuClaim::Type::kMemory, count, "", gib << 30, 0, cores};
}

std::vector<int> Indices(const api::NodeGpus& gpus, const GpuChoice& choice) {
  std::vector<int> indices;
  for (const auto& [container, shares] : choice.shares)
    for (const auto& share : shares) indices.push_back(gpus.Find(share.uuid)->index);
  return indices;
}

constexpr api::GpuSharing kByMemory{api::GpuSharing::Mode::kMemory, 10, false};

TEST_CASE("two pods on two GPUs never share one, the third finds none") {
  const auto gpus = Node("A10", 2);
  GpuUses uses;
  const auto first = ChooseGpus(gpus, uses, {Whole(1)});
  Assume(uses, gpus, first.shares);
  const auto second = ChooseGpus(gpus, uses, {Whole(1)});
  Assume(uses, gpus, second.shares);
  CHECK(Indices(gpus, first) == std::vector<int>{0});
  CHECK(Indices(gpus, second) == std::vector<int>{1});
  CHECK(ChooseGpus(gpus, uses, {Whole(1)}).problem == "Insufficient nvidia.com/gpu");
}

TEST_CASE("containers of one pod get different devices") {
  const auto gpus = Node("A10", 3);
  const auto choice = ChooseGpus(gpus, {}, {Whole(1, "a"), Whole(2, "b")});
  REQUIRE(choice.problem.empty());
  CHECK(choice.shares.at("a").size() == 1);
  CHECK(choice.shares.at("b").size() == 2);
  CHECK(choice.shares.at("a")[0].uuid != choice.shares.at("b")[0].uuid);
  CHECK(choice.shares.at("a")[0].uuid != choice.shares.at("b")[1].uuid);
}

TEST_CASE("GPUs that are linked go together, and a single one leaves the pairs whole") {
  auto gpus = Node("A10", 4);  // 0-2 and 1-3 are bridged
  for (const auto& [a, b] : {std::pair{0, 2}, std::pair{1, 3}}) {
    gpus.devices[static_cast<size_t>(a)].links[b] = 4;
    gpus.devices[static_cast<size_t>(b)].links[a] = 4;
  }
  CHECK(Indices(gpus, ChooseGpus(gpus, {}, {Whole(2)})) == std::vector<int>{0, 2});
  GpuUses uses;
  uses[gpus.devices[0].uuid] = {1, 0, 0, true};
  CHECK(Indices(gpus, ChooseGpus(gpus, uses, {Whole(1)})) == std::vector<int>{2});
  CHECK(Indices(gpus, ChooseGpus(gpus, uses, {Whole(2)})) == std::vector<int>{1, 3});
}

TEST_CASE("without links, neighbours on one socket go together") {
  auto gpus = Node("T4", 8);
  GpuUses uses;
  for (const int taken : {0, 1, 2}) uses[gpus.devices[static_cast<size_t>(taken)].uuid] = {1, 0, 0, true};
  CHECK(Indices(gpus, ChooseGpus(gpus, uses, {Whole(2)})) == std::vector<int>{4, 5});
}

TEST_CASE("many GPUs are chosen without trying every set") {
  const auto gpus = Node("A100", 64);
  CHECK(Indices(gpus, ChooseGpus(gpus, {}, {Whole(40)})).size() == 40);
}

TEST_CASE("memory is shared only where that is declared, and never beyond what a device has") {
  CHECK(ChooseGpus(Node("A10", 1), {}, {Share(8)}).problem ==
        "node(s) didn't declare that GPUs may be shared by memory");
  const auto gpus = Node("A10", 2, kByMemory);
  GpuUses uses;
  std::vector<int> order;
  for (int i = 0; i < 6; ++i) {
    const auto choice = ChooseGpus(gpus, uses, {Share(8)});
    REQUIRE(choice.problem.empty());
    order.push_back(Indices(gpus, choice).front());
    Assume(uses, gpus, choice.shares);
  }
  CHECK(order == std::vector<int>{0, 0, 0, 1, 1, 1});  // one is filled before the next is begun
  CHECK(ChooseGpus(gpus, uses, {Share(8)}).problem == "Insufficient GPU memory in one device");
}

TEST_CASE("free memory of two devices is not one device's") {
  const auto gpus = Node("A10", 2, kByMemory);
  GpuUses uses;
  for (int i = 0; i < 2; ++i) Assume(uses, gpus, ChooseGpus(gpus, uses, {Share(16)}).shares);
  CHECK(ChooseGpus(gpus, uses, {Share(16)}).problem == "Insufficient GPU memory in one device");
  CHECK(Indices(gpus, ChooseGpus(gpus, uses, {Share(8, 2)})) == std::vector<int>{0, 1});
}

TEST_CASE("a whole GPU and a share of it exclude each other; so do cores beyond a hundred percent") {
  const auto gpus = Node("A10", 1, kByMemory);
  GpuUses uses;
  Assume(uses, gpus, ChooseGpus(gpus, uses, {Share(4, 1, 60)}).shares);
  CHECK_FALSE(ChooseGpus(gpus, uses, {Whole(1)}).problem.empty());
  CHECK_FALSE(ChooseGpus(gpus, uses, {Share(4, 1, 50)}).problem.empty());
  CHECK(ChooseGpus(gpus, uses, {Share(4, 1, 40)}).problem.empty());
}

TEST_CASE("time-slices go where fewest are, as many as declared") {
  const auto gpus = Node("A10", 2, {api::GpuSharing::Mode::kTimeSlicing, 2, false});
  GpuUses uses;
  std::vector<int> order;
  for (int i = 0; i < 4; ++i) {
    const auto choice = ChooseGpus(gpus, uses, {Whole(1)});
    REQUIRE(choice.problem.empty());
    order.push_back(Indices(gpus, choice).front());
    Assume(uses, gpus, choice.shares);
  }
  CHECK(order == std::vector<int>{0, 1, 0, 1});
  CHECK_FALSE(ChooseGpus(gpus, uses, {Whole(1)}).problem.empty());
}

TEST_CASE("MIG instances by profile; the GPU they are of is not given whole") {
  const api::NodeGpus gpus{api::MakeVirtualGpus({"A100-40GB", 1, 0, 0, {"3g.20gb", "1g.5gb"}}).value(), {}};
  CHECK(api::GpuResources(gpus) ==
        api::Resources{{"nvidia.com/mig-1g.5gb", {1000}}, {"nvidia.com/mig-3g.20gb", {1000}}});
  const GpuClaim small{"c", GpuClaim::Type::kMig, 1, "1g.5gb"};
  GpuUses uses;
  const auto choice = ChooseGpus(gpus, uses, {small});
  REQUIRE(choice.problem.empty());
  CHECK(choice.shares.at("c")[0].uuid.starts_with("MIG-00000000-"));
  Assume(uses, gpus, choice.shares);
  CHECK(ChooseGpus(gpus, uses, {small}).problem == "Insufficient nvidia.com/mig-1g.5gb");
  CHECK_FALSE(ChooseGpus(gpus, {}, {Whole(1)}).problem.empty());
}

TEST_CASE("a GPU that is not healthy is neither offered nor given") {
  auto gpus = Node("A10", 2);
  gpus.devices[0].health = "lost";
  CHECK(api::GpuResources(gpus) == api::Resources{{"nvidia.com/gpu", {1000}}});
  CHECK(Indices(gpus, ChooseGpus(gpus, {}, {Whole(1)})) == std::vector<int>{1});
}

GpuClaim Init(GpuClaim claim, const std::string& container = "i") {
  claim.container = container;
  claim.init = true;
  return claim;
}

TEST_CASE("init containers use the devices of the others, and more only where they ask for more") {
  const auto gpus = Node("A10", 3);
  const auto same = ChooseGpus(gpus, {}, {Init(Whole(1)), Whole(1, "a"), Whole(1, "b")});
  REQUIRE(same.problem.empty());
  CHECK(same.shares.at("i")[0].uuid == same.shares.at("a")[0].uuid);
  GpuUses uses;
  Assume(uses, gpus, same.shares, {"i"});
  CHECK(uses.size() == 2);
  CHECK(uses[same.shares.at("a")[0].uuid].holders == 1);
  const auto more = ChooseGpus(gpus, {}, {Init(Whole(3)), Init(Whole(3), "j"), Whole(1, "a")});
  REQUIRE(more.problem.empty());
  CHECK(more.shares.at("j").size() == 3);
  CHECK(ChooseGpus(gpus, uses, {Init(Whole(2)), Whole(1, "a")}).problem == "Insufficient nvidia.com/gpu");
}

TEST_CASE("an init container's share of memory counts only beyond that of the others") {
  const auto gpus = Node("A10", 1, kByMemory);
  GpuUses uses;
  const auto choice = ChooseGpus(gpus, uses, {Init(Share(16)), Share(12)});
  REQUIRE(choice.problem.empty());
  Assume(uses, gpus, choice.shares, {"i"});
  CHECK(ChooseGpus(gpus, uses, {Share(8)}).problem.empty());
  CHECK_FALSE(ChooseGpus(gpus, uses, {Share(9)}).problem.empty());
}

}  // namespace
}  // namespace tfemu::scheduler
