// Devices of the host that go, come back or are split anew, and what a cluster makes of it.
#include "emulator/manager/gpu_health.h"

#include <doctest/doctest.h>

#include "tests/support/world.h"

namespace tfemu::manager {
namespace {

using api::Gpu;

Gpu Whole(int index) {
  Gpu gpu;
  gpu.index = gpu.minor = index;
  gpu.uuid = "GPU-5a3f-" + std::to_string(index);
  gpu.model = "NVIDIA A100-SXM4-40GB";
  gpu.memory_bytes = int64_t{40} << 30;
  return gpu;
}

Gpu Instance(const Gpu& parent, const std::string& uuid, const std::string& profile) {
  Gpu gpu = parent;
  gpu.uuid = uuid;
  gpu.parent = parent.uuid;
  gpu.mig_profile = profile;
  return gpu;
}

TEST_CASE("a device that is gone is not well until it is back; nothing is said twice") {
  api::NodeGpus gpus{{Whole(0), Whole(1)}, {}};
  CHECK(UpdateHealth(gpus, std::vector<Gpu>{Whole(0), Whole(1)}).empty());
  const auto lost = UpdateHealth(gpus, std::vector<Gpu>{Whole(1)});
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].bad);
  CHECK(lost[0].message == "GPU GPU-5a3f-0 is not given to pods any more: lost");
  CHECK(gpus.devices[0].health == "lost");
  CHECK(UpdateHealth(gpus, std::vector<Gpu>{Whole(1)}).empty());
  const auto back = UpdateHealth(gpus, std::vector<Gpu>{Whole(0), Whole(1)});
  REQUIRE(back.size() == 1);
  CHECK_FALSE(back[0].bad);
  CHECK(gpus.devices[0].health.empty());
}

TEST_CASE("a driver that does not answer takes real devices, and no virtual ones") {
  Gpu made = Whole(1);
  made.uuid = std::string(api::kVirtualGpuPrefix) + "1";
  api::NodeGpus gpus{{Whole(0), made}, {}};
  const auto news = UpdateHealth(gpus, Error{Reason::kTimeout, "the driver did not answer"});
  REQUIRE(news.size() == 1);
  CHECK(gpus.devices[0].health == "the driver did not answer");
  CHECK(gpus.devices[1].health.empty());
}

TEST_CASE("instances that are made anew replace those that are gone") {
  const Gpu whole = Whole(0);
  api::NodeGpus gpus{{whole, Instance(whole, "MIG-a", "1g.5gb")}, {}};
  const auto news =
      UpdateHealth(gpus, std::vector<Gpu>{whole, Instance(whole, "MIG-b", "2g.10gb"), Whole(1)});
  CHECK(news.size() == 2);
  REQUIRE(gpus.devices.size() == 3);  // a GPU that no node was given stays out
  CHECK(gpus.devices[1].health == "its MIG instance is gone");
  CHECK(api::GpuResources(gpus) == api::Resources{{"nvidia.com/mig-2g.10gb", {1000}}});
}

std::string Allocatable(const test::World& world) {
  return world.Get("Node", "node-1").doc().at("status").at("allocatable").at("nvidia.com/gpu");
}

TEST_CASE("a cluster offers less while a device is lost, says so, and pods wait with the reason") {
  test::WorldOptions options;
  options.nodes = 1;
  options.devices = {{{Whole(0), Whole(1)}, {}}};
  test::World world(options);
  CHECK(Allocatable(world) == "2");
  world.cluster->OnHostGpus(std::vector<Gpu>{Whole(1)});
  world.executor.Settle();
  CHECK(Allocatable(world) == "1");
  CHECK(world.EventsOf("node-1").back() ==
        "Warning GPUUnhealthy GPU GPU-5a3f-0 is not given to pods any more: lost");
  world.Apply(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
      "  - {name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}\n");
  CHECK(world.EventsOf("p").back().find("1 Insufficient nvidia.com/gpu") != std::string::npos);
  world.cluster->OnHostGpus(std::vector<Gpu>{Whole(0), Whole(1)});
  world.executor.Settle();
  CHECK(Allocatable(world) == "2");
  CHECK(world.Get("Pod", "p").doc().at("spec").value("nodeName", "") == "node-1");
}

}  // namespace
}  // namespace tfemu::manager
