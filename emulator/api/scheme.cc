#include "emulator/api/scheme.h"

#include <algorithm>
#include <vector>

#include "emulator/api/batch_job.h"
#include "emulator/api/config.h"
#include "emulator/api/cron_job.h"
#include "emulator/api/daemon_set.h"
#include "emulator/api/pod.h"
#include "emulator/api/resource_quota.h"
#include "emulator/api/schemas.h"
#include "emulator/api/service.h"
#include "emulator/api/stateful_set.h"
#include "emulator/api/storage_class.h"
#include "emulator/api/tfjob.h"
#include "emulator/api/volume.h"
#include "emulator/api/workload.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

// A table, a row a line.
// clang-format off
const std::vector<Kind>& Table() {
  static const std::vector<Kind> kTable = {
      {"Namespace", "v1", "namespaces", "namespace", {"ns"}, false, &kNamespaceSchema, SetNamespaceDefaults, ValidateNamespace},
      {"Node", "v1", "nodes", "node", {"no"}, false, &kNodeSchema, nullptr, ValidateNothingButName},
      {"PersistentVolume", "v1", "persistentvolumes", "persistentvolume", {"pv"}, false, &kPersistentVolumeSchema,
       SetPersistentVolumeDefaults, ValidatePersistentVolume},
      {"PersistentVolumeClaim", "v1", "persistentvolumeclaims", "persistentvolumeclaim", {"pvc"}, true,
       &kPersistentVolumeClaimSchema, SetPersistentVolumeClaimDefaults, ValidatePersistentVolumeClaim},
      {"StorageClass", "storage.k8s.io/v1", "storageclasses", "storageclass", {"sc"}, false, &kStorageClassSchema,
       SetStorageClassDefaults, ValidateStorageClass},
      {"ResourceQuota", "v1", "resourcequotas", "resourcequota", {"quota"}, true, &kResourceQuotaSchema, nullptr,
       ValidateResourceQuota},
      {"ConfigMap", "v1", "configmaps", "configmap", {"cm"}, true, &kConfigMapSchema, nullptr, ValidateConfigMap},
      {"Secret", "v1", "secrets", "secret", {}, true, &kSecretSchema, SetSecretDefaults, ValidateSecret},
      {"Service", "v1", "services", "service", {"svc"}, true, &kServiceSchema, SetServiceDefaults, ValidateService},
      {"Pod", "v1", "pods", "pod", {"po"}, true, &kPodSchema, SetPodDefaults, ValidatePod},
      {"ReplicaSet", "apps/v1", "replicasets", "replicaset", {"rs"}, true, &kReplicaSetSchema, SetReplicaSetDefaults,
       ValidateReplicaSet},
      {"Deployment", "apps/v1", "deployments", "deployment", {"deploy"}, true, &kDeploymentSchema, SetDeploymentDefaults,
       ValidateDeployment},
      {"StatefulSet", "apps/v1", "statefulsets", "statefulset", {"sts"}, true, &kStatefulSetSchema, SetStatefulSetDefaults,
       ValidateStatefulSet},
      {"DaemonSet", "apps/v1", "daemonsets", "daemonset", {"ds"}, true, &kDaemonSetSchema, SetDaemonSetDefaults,
       ValidateDaemonSet},
      {"ControllerRevision", "apps/v1", "controllerrevisions", "controllerrevision", {}, true, &kControllerRevisionSchema,
       nullptr, ValidateNothingButName},
      {"Job", "batch/v1", "jobs", "job", {}, true, &kBatchJobSchema, SetBatchJobDefaults, ValidateBatchJob},
      {"CronJob", "batch/v1", "cronjobs", "cronjob", {"cj"}, true, &kCronJobSchema, SetCronJobDefaults, ValidateCronJob},
      {"TFJob", "kubeflow.org/v1", "tfjobs", "tfjob", {}, true, &kTFJobSchema, SetTFJobDefaults, ValidateTFJob,
       AdmitTFJob, kOlderTFJobVersions, ModernizeTFJob},
      {"Event", "v1", "events", "event", {"ev"}, true, &kEventSchema, nullptr, ValidateNothingButName},
  };
  return kTable;
}
// clang-format on

}  // namespace

std::span<const Kind> Kinds() { return Table(); }

const Kind* FindKind(std::string_view kind) {
  const auto it = std::ranges::find(Table(), kind, &Kind::kind);
  return it == Table().end() ? nullptr : &*it;
}

bool Accepts(const Kind& kind, std::string_view api_version) {
  return api_version == kind.api_version ||
         std::ranges::find(kind.older_versions, api_version) != kind.older_versions.end();
}

const Kind* FindResource(std::string_view word) {
  const std::string lower = ToLower(word.substr(0, word.find('.')));
  for (const Kind& kind : Table())
    if (lower == kind.resource || lower == kind.singular ||
        std::ranges::find(kind.short_names, lower) != kind.short_names.end())
      return &kind;
  return nullptr;
}

std::string QualifiedResource(const Kind& kind) {
  const size_t slash = kind.api_version.find('/');
  std::string resource(kind.resource);
  return slash == std::string_view::npos ? resource
                                         : resource + "." + std::string(kind.api_version.substr(0, slash));
}

}  // namespace tfemu::api
