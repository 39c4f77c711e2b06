// Volumes in a whole control plane: eviction, usage, folders that go, pods that wait for their claims.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/support/world.h"

namespace tfemu::test {
namespace {

constexpr const char* kPod = R"(apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never
  containers: [{name: main, image: any, volumeMounts: [{name: v, mountPath: /v}]}]
  volumes: [{name: v, )";

std::string Phase(const World& world, const char* kind, const char* name, const std::string& ns = "default") {
  return world.Get(kind, name, ns).doc()["status"]["phase"].get<std::string>();
}

bool Said(const World& world, const std::string& name, const std::string& words) {
  for (const auto& event : world.EventsOf(name))
    if (event.find(words) != std::string::npos) return true;
  return false;
}

TEST_CASE("an emptyDir past its limit evicts its pod") {
  World world;
  world.Apply(std::string(kPod) + "emptyDir: {sizeLimit: 1Gi}}]");
  world.Advance(std::chrono::seconds(1));
  const std::string uid = world.Get("Pod", "p").uid();
  world.runtime.Use(uid, "v", 100, 1 << 30);
  world.Advance(std::chrono::seconds(1));
  CHECK(Phase(world, "Pod", "p") == "Running");
  world.runtime.Use(uid, "v", (1 << 30) + 1, 1 << 30);
  world.Advance(std::chrono::seconds(1));
  CHECK(Phase(world, "Pod", "p") == "Failed");
  const auto status = world.Get("Pod", "p").doc()["status"];
  CHECK(status["reason"] == "Evicted");
  CHECK(status["message"] == "Usage of EmptyDir volume \"v\" exceeds the limit \"1Gi\". ");
  CHECK(Said(world, "p", "Evicted"));
}

constexpr const char* kClass = R"(apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: nas, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: nasplugin.csi.alibabacloud.com
parameters: {server: "s:/", archiveOnDelete: "false", volumeCapacity: "true"}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
)";

TEST_CASE("a claim of the default class gets a folder, with a quota, that goes with it") {
  World world;
  world.Apply(std::string(kClass) + kPod + "persistentVolumeClaim: {claimName: c}}]");
  world.Advance(std::chrono::seconds(1));
  const auto claim = world.Get("PersistentVolumeClaim", "c");
  CHECK(claim.doc()["spec"]["storageClassName"] == "nas");
  const std::string volume = "pvc-" + claim.uid();
  const std::string uid = world.Get("Pod", "p").uid(), folder = "/state/nas/s/" + volume;
  const auto* launch = world.runtime.Launched(uid);
  REQUIRE(launch != nullptr);
  CHECK(launch->volumes[0].host_path == folder);
  CHECK(launch->volumes[0].quotas == std::vector<runtime::Quota>{{folder, uint64_t{1} << 30}});
  world.runtime.Use(uid, "v", uint64_t{1} << 30, uint64_t{1} << 30);
  world.Advance(std::chrono::seconds(1));
  CHECK(Said(world, "p", "VolumeQuotaReached"));
  CHECK(world.Get("PersistentVolume", volume.c_str(), "")
            .doc()["metadata"]["annotations"]["tfemu.dev/used-bytes"] == "1073741824");
  for (const auto& [kind, name] : {std::pair("Pod", "p"), {"PersistentVolumeClaim", "c"}})
    REQUIRE(world.cluster->registry().Delete({kind, "default", name}, {.grace_period_seconds = 0}).ok());
  world.Advance(std::chrono::seconds(40));
  CHECK_FALSE(world.Exists("PersistentVolume", volume.c_str(), ""));
  CHECK(world.runtime.discarded() == std::vector<std::pair<std::string, std::string>>{{folder, ""}});
}

TEST_CASE("a pod and its claim wait for each other in the right order") {
  World world;
  world.Apply(R"(apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: rancher.io/local-path
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
)");
  world.Advance(std::chrono::seconds(1));
  CHECK(Phase(world, "PersistentVolumeClaim", "c") == "Pending");
  CHECK(Said(world, "c", "waiting for first consumer"));
  world.Apply(std::string(kPod) + "persistentVolumeClaim: {claimName: c}}]");
  world.Advance(std::chrono::seconds(1));
  CHECK(Phase(world, "PersistentVolumeClaim", "c") == "Bound");
  CHECK(Phase(world, "Pod", "p") == "Running");
  CHECK_FALSE(Said(world, "p", "FailedScheduling"));
}

TEST_CASE("a pod whose claim will never get a volume says so") {
  World world;
  world.Apply(std::string(R"(apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: rancher.io/local-path
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
spec: {storageClassName: local, accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
)") + kPod + "persistentVolumeClaim: {claimName: c}}]");
  world.Advance(std::chrono::seconds(1));
  CHECK(Phase(world, "Pod", "p") == "Pending");
  CHECK(Said(world, "p", "provisioning failed for PVC \"c\""));
  CHECK(Said(world, "c", "ProvisioningFailed"));
}

TEST_CASE("a local volume takes its pod to its node") {
  World world;
  world.Apply(std::string(R"(apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  storageClassName: ""
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  local: {path: /mnt/disk}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-3]}]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c}
spec: {storageClassName: "", accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
)") + kPod + "persistentVolumeClaim: {claimName: c}}]");
  world.Advance(std::chrono::seconds(1));
  CHECK(world.Get("Pod", "p").doc()["spec"]["nodeName"] == "node-3");
}

}  // namespace
}  // namespace tfemu::test
