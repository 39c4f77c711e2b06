// Writes that are refused for a while: whatever waited for one of them comes to pass afterwards.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "emulator/api/pod.h"
#include "tests/sim/manifests.h"
#include "tests/sim/scenarios.h"
#include "tests/sim/sim_host.h"

namespace tfemu::sim {
namespace {

using namespace std::chrono_literals;
using api::Json;

bool Exists(const SimHost& host, const api::ObjectKey& key) { return host.disk().objects().contains(key); }

TEST_CASE("a pod whose binding was refused gets its node") {
  SimHost host({.nodes = MakeNodes(1, 0)});
  host.Boot();
  host.RunUntil(1s);
  // In the same instant, so that the pod is stored and its binding is not.
  host.DoAt(2s, [&host](manager::Registry& registry) -> Result<void> {
    const auto made = registry.Create(MakePod("p", "Always", {"forever"}), {});
    host.disk().set_full(true);
    return made.ok() ? Result<void>() : made.error();
  });
  host.At(10s, [&host] { host.disk().set_full(false); });
  host.RunUntil(9s);
  const api::ObjectKey key{"Pod", "default", "p"};
  REQUIRE(Exists(host, key));
  CHECK(host.disk().objects().at(key).As(api::DecodePod).spec.node_name.empty());
  CHECK(host.disk().refused() > 1);
  host.RunUntil(60s);
  CHECK(host.disk().objects().at(key).As(api::DecodePod).status.phase == api::PodPhase::kRunning);
}

TEST_CASE("a namespace whose content could not be deleted goes") {
  SimHost host({.nodes = MakeNodes(1, 0)});
  Json pod = MakePod("p", "Always", {"forever"}), job = MakeTFJob("j", {{"Worker", 2, "Never", {"forever"}}});
  pod["metadata"]["namespace"] = job["metadata"]["namespace"] = "team";
  host.Boot();
  host.DoAt(0s, Create({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "team"}}}}));
  host.DoAt(1s, Create(pod));
  host.DoAt(1s, Create(job));
  host.DoAt(10s, [&host](manager::Registry& registry) -> Result<void> {
    const auto deleted = registry.Delete({"Namespace", "", "team"}, {});
    host.disk().set_full(true);
    return deleted.ok() ? Result<void>() : deleted.error();
  });
  host.At(20s, [&host] { host.disk().set_full(false); });
  host.RunUntil(19s);
  CHECK(Exists(host, {"Pod", "team", "p"}));
  host.RunUntil(120s);
  CHECK_FALSE(Exists(host, {"Pod", "team", "p"}));
  CHECK_FALSE(Exists(host, {"TFJob", "team", "j"}));
  CHECK_FALSE(Exists(host, {"Namespace", "", "team"}));
  CHECK(host.runtime().pods().empty());
}

}  // namespace
}  // namespace tfemu::sim
