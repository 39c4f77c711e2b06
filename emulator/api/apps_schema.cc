// The fields of StatefulSets, DaemonSets and ControllerRevisions (Kubernetes 1.33).
#include "emulator/api/schemas.h"

namespace tfemu::api {
namespace {

constexpr std::string_view kReadyIsAvailable = "a ready pod is available at once";

constexpr Field kOrdinalsFields[] = {Integer("start")};
constexpr Schema kOrdinals{kOrdinalsFields};
constexpr Field kRetentionFields[] = {String("whenDeleted"), String("whenScaled")};
constexpr Schema kRetention{kRetentionFields};
constexpr Field kSetRollFields[] = {
    Field{"maxUnavailable", Type::kIntOrString}.Ignored("pods are replaced one at a time"),
    Integer("partition")};
constexpr Schema kSetRoll{kSetRollFields};
constexpr Field kSetStrategyFields[] = {OneOf("rollingUpdate", kSetRoll), String("type")};
constexpr Schema kSetStrategy{kSetStrategyFields};
constexpr Field kStatefulSetSpecFields[] = {Integer("minReadySeconds").Ignored(kReadyIsAvailable),
                                            OneOf("ordinals", kOrdinals),
                                            OneOf("persistentVolumeClaimRetentionPolicy", kRetention),
                                            String("podManagementPolicy"),
                                            Integer("replicas"),
                                            Integer("revisionHistoryLimit"),
                                            OneOf("selector", kLabelSelectorSchema),
                                            String("serviceName"),
                                            OneOf("template", kPodTemplateSchema),
                                            OneOf("updateStrategy", kSetStrategy),
                                            ListOf("volumeClaimTemplates", kPersistentVolumeClaimSchema)};
constexpr Schema kStatefulSetSpec{kStatefulSetSpecFields};
constexpr Field kStatefulSetFields[] = {String("apiVersion"), String("kind"),
                                        OneOf("metadata", kObjectMetaSchema), OneOf("spec", kStatefulSetSpec),
                                        Any("status")};

constexpr Field kDaemonRollFields[] = {
    Field{"maxSurge", Type::kIntOrString}.Approximated("as many old pods go before their successors come"),
    Field{"maxUnavailable", Type::kIntOrString}};
constexpr Schema kDaemonRoll{kDaemonRollFields};
constexpr Field kDaemonStrategyFields[] = {OneOf("rollingUpdate", kDaemonRoll), String("type")};
constexpr Schema kDaemonStrategy{kDaemonStrategyFields};
constexpr Field kDaemonSetSpecFields[] = {
    Integer("minReadySeconds").Ignored(kReadyIsAvailable),
    Integer("revisionHistoryLimit").Ignored("no revisions of a DaemonSet are kept"),
    OneOf("selector", kLabelSelectorSchema), OneOf("template", kPodTemplateSchema),
    OneOf("updateStrategy", kDaemonStrategy)};
constexpr Schema kDaemonSetSpec{kDaemonSetSpecFields};
constexpr Field kDaemonSetFields[] = {String("apiVersion"), String("kind"),
                                      OneOf("metadata", kObjectMetaSchema), OneOf("spec", kDaemonSetSpec),
                                      Any("status")};

constexpr Field kRevisionFields[] = {String("apiVersion"), Any("data"), String("kind"),
                                     OneOf("metadata", kObjectMetaSchema), Integer("revision")};

}  // namespace

constexpr Schema kStatefulSetSchema{kStatefulSetFields};
constexpr Schema kDaemonSetSchema{kDaemonSetFields};
constexpr Schema kControllerRevisionSchema{kRevisionFields};

}  // namespace tfemu::api
