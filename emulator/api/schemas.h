// The field tables of all kinds; what several kinds share stands here too.
#pragma once

#include "emulator/api/schema.h"

namespace tfemu::api {

extern const Schema kObjectMetaSchema;
extern const Schema kLabelSelectorSchema;
// Sources that a pod's volume and a PersistentVolume share.
inline constexpr std::string_view kNoVolume =
    "this volume type is not provided; the pod waits with FailedMount";
inline constexpr std::string_view kNoDisk =
    "there are no disks and storage services here; nfs, flexVolume, hostPath or a claim can stand in";
extern const Schema kHostPathSchema;
extern const Schema kNfsSchema;
extern const Schema kFlexSchema;
extern const Schema kCsiSchema;
extern const Schema kPodSpecSchema;
extern const Schema kPodTemplateSchema;

extern const Schema kPodSchema;
extern const Schema kServiceSchema;
extern const Schema kNamespaceSchema;
extern const Schema kNodeSchema;
extern const Schema kConfigMapSchema;
extern const Schema kSecretSchema;
extern const Schema kEventSchema;
extern const Schema kPersistentVolumeSchema;
extern const Schema kPersistentVolumeClaimSchema;
extern const Schema kStorageClassSchema;
extern const Schema kResourceQuotaSchema;
extern const Schema kDeploymentSchema;
extern const Schema kReplicaSetSchema;
extern const Schema kStatefulSetSchema;
extern const Schema kDaemonSetSchema;
extern const Schema kControllerRevisionSchema;
extern const Schema kCronJobSchema;
extern const Schema kTFJobSchema;
extern const Schema kBatchJobSchema;

}  // namespace tfemu::api
