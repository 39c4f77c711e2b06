// Which node gets which GPUs, real and virtual.
#include <doctest/doctest.h>

#include <algorithm>

#include "emulator/daemon/config.h"

namespace tfemu::daemon {
namespace {

gpu::HostGpus Host(int count) {
  gpu::HostGpus host;
  for (int i = 0; i < count; ++i) {
    api::Gpu gpu;
    gpu.index = i;
    gpu.uuid = "GPU-" + std::to_string(i) + "aaaaaaa";
    gpu.model = "NVIDIA H200";
    host.devices.push_back(gpu);
  }
  return host;
}

const Error kNoDriver{Reason::kNotFound, "no NVIDIA driver"};

Result<std::vector<api::NodeGpus>> Plan(std::vector<std::vector<api::GpuConfig>> nodes,
                                        Result<gpu::HostGpus> host) {
  api::ClusterConfig config;
  for (auto& gpus : nodes) {
    config.nodes.push_back({"node-" + std::to_string(config.nodes.size() + 1)});
    config.nodes.back().gpus = std::move(gpus);
  }
  return PlanGpus(config, host);
}

api::GpuConfig Count(int count, const std::string& model = "") {
  api::GpuConfig gpus;
  gpus.count = count;
  gpus.model = model;
  return gpus;
}

TEST_CASE("a number means the host's GPUs when it has some, virtual ones when it has none") {
  const auto real = Plan({{Count(1)}, {Count(1)}}, Host(2));
  REQUIRE(real.ok());
  CHECK(real.value()[0].devices[0].uuid == "GPU-0aaaaaaa");
  CHECK(real.value()[1].devices[0].uuid == "GPU-1aaaaaaa");
  const auto made = Plan({{Count(2)}}, kNoDriver);
  REQUIRE(made.ok());
  CHECK(made.value()[0].devices.size() == 2);
  CHECK(made.value()[0].devices[0].is_virtual());
  CHECK(made.value()[0].devices[0].model == "A10");
}

TEST_CASE("more than the host has is refused, and so is a GPU for two nodes") {
  CHECK(Plan({{Count(3)}}, Host(2)).error().message == "node node-1: 3 GPUs are asked for, the host has 2");
  api::GpuConfig named;
  named.uuids = {"GPU-1"};
  CHECK(Plan({{named}, {named}}, Host(2)).error().message == "GPU GPU-1aaaaaaa is given to two nodes");
  named.uuids = {"GPU-7"};
  CHECK(Plan({{named}}, Host(2)).error().message == "the host has no GPU GPU-7");
}

TEST_CASE("real and virtual ones side by side") {
  api::GpuConfig all;
  all.all = true;
  const auto plan = Plan({{all, Count(2, "T4")}}, Host(1));
  REQUIRE(plan.ok());
  const auto& devices = plan.value()[0].devices;
  REQUIRE(devices.size() == 3);
  CHECK_FALSE(devices[0].is_virtual());
  CHECK(devices[2].index == 2);
  CHECK(devices[2].model == "T4");
}

TEST_CASE(
    "a driver that fails is an error where GPUs of the host are meant, and no matter for virtual ones") {
  const Error hangs{Reason::kTimeout, "the NVIDIA driver did not answer within 10 s"};
  CHECK(Plan({{Count(1)}}, hangs).error().message == hangs.message);
  CHECK(Plan({{Count(1, "A10")}}, hangs).ok());
  api::GpuConfig all;
  all.all = true;
  CHECK(Plan({{all}}, kNoDriver).error().message == kNoDriver.message);
}

}  // namespace
}  // namespace tfemu::daemon
