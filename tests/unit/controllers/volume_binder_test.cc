// Which volume a claim gets, what a class makes, and what becomes of a volume whose claim is gone.
#include "emulator/controllers/volume_binder.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace tfemu::controllers {
namespace {

using api::Json;
using api::Quantity;

api::PersistentVolumeClaim Claim() {
  api::PersistentVolumeClaim claim;
  claim.meta.name = "data";
  claim.meta.ns = "default";
  claim.meta.uid = "1234";
  claim.request = Quantity{int64_t{5} << 30} + Quantity{};
  claim.request.milli *= 1000;
  claim.access_modes = {"ReadWriteMany"};
  claim.storage_class = "nas";
  claim.phase = "Pending";
  return claim;
}

api::StorageClass Class(const std::string& provisioner = "nasplugin.csi.alibabacloud.com") {
  api::StorageClass made;
  made.name = "nas";
  made.provisioner = provisioner;
  made.parameters = {{"server", "host.nas:/root/"}};
  return made;
}

api::PersistentVolume Volume(const std::string& name) {
  api::PersistentVolume volume;
  volume.meta.name = volume.meta.uid = name;
  volume.capacity = Claim().request;
  volume.access_modes = {"ReadWriteMany"};
  volume.storage_class = "nas";
  return volume;
}

std::vector<std::string> Reasons(const Plan& plan) {
  std::vector<std::string> reasons;
  for (const Action& action : plan.actions)
    if (const auto* event = std::get_if<EmitEvent>(&action)) reasons.push_back(event->event.reason);
  return reasons;
}

const api::Json* Created(const Plan& plan) {
  for (const Action& action : plan.actions)
    if (const auto* create = std::get_if<CreateObject>(&action)) return &create->object.doc();
  return nullptr;
}

ClaimObservation Observe(const api::StorageClass* storage_class) {
  ClaimObservation observed{Claim(), {}, {}, false};
  observed.storage_class = storage_class;
  observed.state_folder = "/state";
  return observed;
}

}  // namespace

TEST_SUITE("volume binder") {
  TEST_CASE("a class makes a folder of its server") {
    const auto storage_class = Class();
    const Plan plan = ReconcileClaim(Observe(&storage_class));
    CHECK(Reasons(plan) == std::vector<std::string>{"ExternalProvisioning", "Provisioning"});
    REQUIRE(Created(plan) != nullptr);
    const Json& spec = (*Created(plan))["spec"];
    CHECK(spec["csi"]["volumeAttributes"]["server"] == "host.nas");
    CHECK(spec["csi"]["volumeAttributes"]["path"] == "/root/pvc-1234");
    CHECK(spec["capacity"]["storage"] == "5Gi");
    CHECK(spec["claimRef"]["uid"] == "1234");
  }

  TEST_CASE("a volume that fits is taken before one is made") {
    const auto storage_class = Class();
    auto observed = Observe(&storage_class);
    observed.volumes = {Volume("small"), Volume("big")};
    observed.volumes[0].capacity.milli /= 2;
    const Plan plan = ReconcileClaim(observed);
    CHECK(Created(plan) == nullptr);
    REQUIRE(plan.actions.size() == 2);
    CHECK(std::get<PatchObject>(plan.actions[0]).key.name == "big");
  }

  TEST_CASE("a class that waits for a pod makes nothing before there is a node") {
    auto storage_class = Class("rancher.io/local-path");
    storage_class.wait_for_first_consumer = true;
    auto observed = Observe(&storage_class);
    observed.claim.access_modes = {"ReadWriteOnce"};
    CHECK(Reasons(ReconcileClaim(observed)) == std::vector<std::string>{"WaitForFirstConsumer"});
    observed.node = "node-2";
    const Plan plan = ReconcileClaim(observed);
    REQUIRE(Created(plan) != nullptr);
    const Json& spec = (*Created(plan))["spec"];
    CHECK(spec["hostPath"]["path"] == "/state/local-path/pvc-1234_default_data");
    CHECK(spec["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"][0] ==
          "node-2");
  }

  TEST_CASE("with a node, only volumes of that node serve") {
    auto storage_class = Class(api::kNoProvisioner);
    storage_class.wait_for_first_consumer = true;
    auto observed = Observe(&storage_class);
    observed.node = "node-1";
    observed.node_labels = {{"disk", "ssd"}};
    observed.volumes = {Volume("elsewhere"), Volume("here")};
    observed.volumes[0].nodes.terms = {api::SelectorOf({{"disk", "hdd"}})};
    observed.volumes[1].nodes.terms = {api::SelectorOf({{"disk", "ssd"}})};
    const Plan plan = ReconcileClaim(observed);
    REQUIRE(!plan.actions.empty());
    CHECK(std::get<PatchObject>(plan.actions[0]).key.name == "here");
  }

  TEST_CASE("what can't be made is told") {
    const auto oss = Class("ossplugin.csi.alibabacloud.com");
    CHECK(Reasons(ReconcileClaim(Observe(&oss))).back() == "ProvisioningFailed");
    CHECK(Reasons(ReconcileClaim(Observe(nullptr))) == std::vector<std::string>{"ProvisioningFailed"});
    const auto local = Class("rancher.io/local-path");  // many writers on one node's disk
    CHECK(Reasons(ReconcileClaim(Observe(&local))).back() == "ProvisioningFailed");
  }

  TEST_CASE("only what was provisioned is discarded") {
    auto volume = Volume("pvc-1234");
    volume.claim_ns = "default";
    volume.claim_name = "data";
    volume.claim_uid = "1234";
    volume.phase = "Bound";
    volume.reclaim_policy = "Delete";
    volume.source = "csi";
    volume.network = api::NetworkDirectory{"host.nas", "/root/pvc-1234"};
    volume.attributes = {{"volumeAs", "subpath"}};
    CHECK_FALSE(ReconcileVolume({volume, false}).discard);  // nobody says that it was
    volume.meta.annotations[api::kProvisionedBy] = "nasplugin.csi.alibabacloud.com";
    CHECK(ReconcileVolume({volume, false}).discard);
    CHECK_FALSE(ReconcileVolume({volume, true}).discard);
    CHECK(ArchivesOnDelete(volume));
    volume.attributes["archiveOnDelete"] = "false";
    CHECK_FALSE(ArchivesOnDelete(volume));
    volume.network->path = "/root";
    CHECK_FALSE(ReconcileVolume({volume, false}).discard);
    volume.network->path = "/root/pvc-1234";
    volume.reclaim_policy = "Retain";
    CHECK_FALSE(ReconcileVolume({volume, false}).discard);
  }

  TEST_CASE("a hand-made volume with Delete fails, and stays") {
    auto volume = Volume("mine");
    volume.claim_uid = "1234";
    volume.phase = "Bound";
    volume.reclaim_policy = "Delete";
    volume.source = "nfs";
    const VolumePlan plan = ReconcileVolume({volume, false});
    CHECK_FALSE(plan.discard);
    CHECK(Reasons(plan.plan) == std::vector<std::string>{"VolumeFailedDelete"});
  }

  TEST_CASE("a claim grows where its class allows it") {
    auto storage_class = Class();
    auto observed = Observe(&storage_class);
    auto volume = Volume("pvc-1234");
    volume.claim_ns = "default";
    volume.claim_name = "data";
    volume.claim_uid = "1234";
    volume.network = api::NetworkDirectory{"host.nas", "/root/pvc-1234"};
    volume.attributes = {{"volumeAs", "subpath"}};
    volume.meta.annotations[api::kProvisionedBy] = "nasplugin.csi.alibabacloud.com";
    observed.volumes = {volume};
    observed.claim.phase = "Bound";
    observed.claim.volume_name = "pvc-1234";
    CHECK(ReconcileClaim(observed).actions.empty());
    observed.claim.request.milli *= 2;
    CHECK(Reasons(ReconcileClaim(observed)) == std::vector<std::string>{"VolumeResizeFailed"});
    storage_class.allow_expansion = true;
    CHECK(Reasons(ReconcileClaim(observed)) ==
          std::vector<std::string>{"Resizing", "VolumeResizeSuccessful"});
  }
}

}  // namespace tfemu::controllers
