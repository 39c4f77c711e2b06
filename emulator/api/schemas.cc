// The field tables of the kinds other than pods.
#include "emulator/api/schemas.h"

namespace tfemu::api {
namespace {

constexpr Field kOwnerReferenceFields[] = {String("apiVersion"),  Boolean("blockOwnerDeletion"),
                                           Boolean("controller"), String("kind"),
                                           String("name"),        String("uid")};
constexpr Schema kOwnerReference{kOwnerReferenceFields};

constexpr Field kObjectMetaFields[] = {String("annotations").Map(),
                                       Field{"creationTimestamp", Type::kTime},
                                       Integer("deletionGracePeriodSeconds"),
                                       Field{"deletionTimestamp", Type::kTime},
                                       String("finalizers").List(),
                                       String("generateName"),
                                       Integer("generation"),
                                       String("labels").Map(),
                                       Any("managedFields").List(),
                                       String("name"),
                                       String("namespace"),
                                       ListOf("ownerReferences", kOwnerReference),
                                       String("resourceVersion"),
                                       String("selfLink"),
                                       String("uid")};

constexpr Field kRequirementFields[] = {String("key"), String("operator"), String("values").List()};
constexpr Schema kRequirement{kRequirementFields};
constexpr Field kLabelSelectorFields[] = {ListOf("matchExpressions", kRequirement),
                                          String("matchLabels").Map()};

constexpr Field kServicePortFields[] = {String("appProtocol"),
                                        String("name"),
                                        Integer("nodePort").Ignored("the host's ports are not touched"),
                                        Integer("port"),
                                        String("protocol"),
                                        Field{"targetPort", Type::kIntOrString}};
constexpr Schema kServicePort{kServicePortFields};
constexpr std::string_view kNoDoors = "services are reached inside the cluster, or by tfemu port-forward";
constexpr Field kServiceSpecFields[] = {
    Boolean("allocateLoadBalancerNodePorts").Ignored(kNoDoors),
    String("clusterIP"),
    String("clusterIPs").List(),
    String("externalIPs").List().Ignored(kNoDoors),
    String("externalName").Ignored(kNoDoors),
    String("externalTrafficPolicy").Ignored(kNoDoors),
    Integer("healthCheckNodePort").Ignored(kNoDoors),
    String("internalTrafficPolicy").Approximated("always Cluster"),
    String("ipFamilies").List().Approximated("IPv4"),
    String("ipFamilyPolicy").Approximated("IPv4"),
    String("loadBalancerClass").Ignored(kNoDoors),
    String("loadBalancerIP").Ignored(kNoDoors),
    String("loadBalancerSourceRanges").List().Ignored(kNoDoors),
    ListOf("ports", kServicePort),
    Boolean("publishNotReadyAddresses"),
    String("selector").Map(),
    String("sessionAffinity").Approximated("connections go to the ready pods in turn"),
    Any("sessionAffinityConfig").Ignored("connections go to the ready pods in turn"),
    String("trafficDistribution").Approximated("connections go to the ready pods in turn"),
    String("type").Approximated("NodePort and LoadBalancer open no door on the host")};
constexpr Schema kServiceSpec{kServiceSpecFields};
constexpr Field kServiceFields[] = {String("apiVersion"), String("kind"),
                                    OneOf("metadata", kObjectMetaSchema), OneOf("spec", kServiceSpec),
                                    Any("status")};

constexpr Field kNamespaceFields[] = {String("apiVersion"), String("kind"),
                                      OneOf("metadata", kObjectMetaSchema), Any("spec"), Any("status")};

constexpr Field kTaintFields[] = {String("effect"), String("key"), Field{"timeAdded", Type::kTime},
                                  String("value")};
constexpr Schema kTaint{kTaintFields};
constexpr Field kNodeSpecFields[] = {String("podCIDR"), String("podCIDRs").List(), String("providerID"),
                                     ListOf("taints", kTaint), Boolean("unschedulable")};
constexpr Schema kNodeSpec{kNodeSpecFields};
constexpr Field kNodeFields[] = {String("apiVersion"), String("kind"), OneOf("metadata", kObjectMetaSchema),
                                 OneOf("spec", kNodeSpec), Any("status")};

constexpr Field kConfigMapFields[] = {String("apiVersion"), String("binaryData").Map(),
                                      String("data").Map(), Boolean("immutable"),
                                      String("kind"),       OneOf("metadata", kObjectMetaSchema)};
constexpr Field kSecretFields[] = {String("apiVersion"),
                                   String("data").Map(),
                                   Boolean("immutable"),
                                   String("kind"),
                                   OneOf("metadata", kObjectMetaSchema),
                                   String("stringData").Map(),
                                   String("type")};

constexpr Field kEventFields[] = {String("action"),
                                  String("apiVersion"),
                                  Integer("count"),
                                  Field{"eventTime", Type::kTime},
                                  Field{"firstTimestamp", Type::kTime},
                                  Any("involvedObject"),
                                  String("kind"),
                                  Field{"lastTimestamp", Type::kTime},
                                  String("message"),
                                  OneOf("metadata", kObjectMetaSchema),
                                  String("reason"),
                                  Any("related"),
                                  String("reportingComponent"),
                                  String("reportingInstance"),
                                  Any("series"),
                                  Any("source"),
                                  String("type")};

constexpr Field kVolumeResourcesFields[] = {Field{"limits", Type::kQuantity, Shape::kMap},
                                            Field{"requests", Type::kQuantity, Shape::kMap}};
constexpr Schema kVolumeResources{kVolumeResourcesFields};
constexpr Field kClaimSpecFields[] = {
    String("accessModes").List(),
    Any("dataSource").Ignored("a new volume is empty"),
    Any("dataSourceRef").Ignored("a new volume is empty"),
    OneOf("resources", kVolumeResources),
    OneOf("selector", kLabelSelectorSchema),
    String("storageClassName"),
    String("volumeAttributesClassName").Ignored("volumes have no classes of attributes"),
    String("volumeMode"),
    String("volumeName")};
constexpr Schema kClaimSpec{kClaimSpecFields};
constexpr Field kClaimFields[] = {String("apiVersion"), String("kind"), OneOf("metadata", kObjectMetaSchema),
                                  OneOf("spec", kClaimSpec), Any("status")};

constexpr Field kHostPathFields[] = {String("path"), String("type")};
constexpr Field kNfsFields[] = {String("path"), Boolean("readOnly"), String("server")};
constexpr Field kFlexFields[] = {String("driver"), String("fsType"), String("options").Map(),
                                 Boolean("readOnly"),
                                 Any("secretRef").Approximated("folders of this host need no credentials")};
constexpr std::string_view kNoSecrets = "folders of this host need no credentials";
constexpr Field kCsiFields[] = {Any("controllerExpandSecretRef").Ignored(kNoSecrets),
                                Any("controllerPublishSecretRef").Ignored(kNoSecrets),
                                String("driver"),
                                String("fsType"),
                                Any("nodeExpandSecretRef").Approximated(kNoSecrets),
                                Any("nodePublishSecretRef").Approximated(kNoSecrets),
                                Any("nodeStageSecretRef").Approximated(kNoSecrets),
                                Boolean("readOnly"),
                                String("volumeAttributes").Map(),
                                String("volumeHandle")};
constexpr Field kLocalFields[] = {String("fsType"), String("path")};
constexpr Schema kLocal{kLocalFields};
constexpr Field kNodeTermFields[] = {ListOf("matchExpressions", kRequirement),
                                     ListOf("matchFields", kRequirement)};
constexpr Schema kNodeTerm{kNodeTermFields};
constexpr Field kNodeTermsFields[] = {ListOf("nodeSelectorTerms", kNodeTerm)};
constexpr Schema kNodeTerms{kNodeTermsFields};
constexpr Field kVolumeAffinityFields[] = {OneOf("required", kNodeTerms)};
constexpr Schema kVolumeAffinity{kVolumeAffinityFields};
constexpr Field kVolumeSpecFields[] = {
    String("accessModes").List(),
    Field{"capacity", Type::kQuantity, Shape::kMap},
    Any("claimRef"),
    Any("awsElasticBlockStore").Refused(kNoDisk),
    Any("azureDisk").Refused(kNoDisk),
    Any("azureFile").Refused(kNoDisk),
    Any("cephfs").Refused(kNoDisk),
    Any("cinder").Refused(kNoDisk),
    Any("fc").Refused(kNoDisk),
    Any("flocker").Refused(kNoDisk),
    Any("gcePersistentDisk").Refused(kNoDisk),
    Any("glusterfs").Refused(kNoDisk),
    Any("photonPersistentDisk").Refused(kNoDisk),
    Any("portworxVolume").Refused(kNoDisk),
    Any("quobyte").Refused(kNoDisk),
    Any("rbd").Refused(kNoDisk),
    Any("scaleIO").Refused(kNoDisk),
    Any("storageos").Refused(kNoDisk),
    Any("vsphereVolume").Refused(kNoDisk),
    Any("iscsi").Ignored(kNoVolume),
    OneOf("csi", kCsiSchema),
    OneOf("flexVolume", kFlexSchema),
    OneOf("hostPath", kHostPathSchema),
    OneOf("local", kLocal),
    String("mountOptions").List().Approximated("ro counts; folders of this host take no NFS options"),
    OneOf("nfs", kNfsSchema),
    OneOf("nodeAffinity", kVolumeAffinity),
    String("persistentVolumeReclaimPolicy").Approximated("Delete removes only folders that were provisioned"),
    String("storageClassName"),
    String("volumeAttributesClassName").Ignored("volumes have no classes of attributes"),
    String("volumeMode")};
constexpr Schema kVolumeSpec{kVolumeSpecFields};
constexpr Field kVolumeFields[] = {String("apiVersion"), String("kind"), OneOf("metadata", kObjectMetaSchema),
                                   OneOf("spec", kVolumeSpec), Any("status")};

constexpr Field kClassFields[] = {
    Boolean("allowVolumeExpansion"),
    Any("allowedTopologies").List().Ignored("volumes can be had on every node"),
    String("apiVersion"),
    String("kind"),
    OneOf("metadata", kObjectMetaSchema),
    String("mountOptions").List().Approximated("ro counts; folders of this host take no NFS options"),
    String("parameters").Map(),
    String("provisioner"),
    String("reclaimPolicy"),
    String("volumeBindingMode")};

constexpr Field kQuotaSpecFields[] = {
    Field{"hard", Type::kQuantity, Shape::kMap},
    Any("scopeSelector").Ignored("every object of the namespace counts, whatever its scope"),
    String("scopes").List().Ignored("every object of the namespace counts, whatever its scope")};
constexpr Schema kQuotaSpec{kQuotaSpecFields};
constexpr Field kQuotaFields[] = {String("apiVersion"), String("kind"), OneOf("metadata", kObjectMetaSchema),
                                  OneOf("spec", kQuotaSpec), Any("status")};

constexpr Field kRollingUpdateFields[] = {Field{"maxSurge", Type::kIntOrString},
                                          Field{"maxUnavailable", Type::kIntOrString}};
constexpr Schema kRollingUpdate{kRollingUpdateFields};
constexpr Field kStrategyFields[] = {OneOf("rollingUpdate", kRollingUpdate), String("type")};
constexpr Schema kStrategy{kStrategyFields};
constexpr Field kDeploymentSpecFields[] = {
    Integer("minReadySeconds").Ignored("a ready pod is available at once"),
    Boolean("paused").Ignored("roll-outs are not paused"),
    Integer("progressDeadlineSeconds").Approximated("a roll-out may take as long as it likes"),
    Integer("replicas"),
    Integer("revisionHistoryLimit"),
    OneOf("selector", kLabelSelectorSchema),
    OneOf("strategy", kStrategy),
    OneOf("template", kPodTemplateSchema)};
constexpr Schema kDeploymentSpec{kDeploymentSpecFields};
constexpr Field kDeploymentFields[] = {String("apiVersion"), String("kind"),
                                       OneOf("metadata", kObjectMetaSchema), OneOf("spec", kDeploymentSpec),
                                       Any("status")};
constexpr Field kReplicaSetSpecFields[] = {
    Integer("minReadySeconds").Ignored("a ready pod is available at once"), Integer("replicas"),
    OneOf("selector", kLabelSelectorSchema), OneOf("template", kPodTemplateSchema)};
constexpr Schema kReplicaSetSpec{kReplicaSetSpecFields};
constexpr Field kReplicaSetFields[] = {String("apiVersion"), String("kind"),
                                       OneOf("metadata", kObjectMetaSchema), OneOf("spec", kReplicaSetSpec),
                                       Any("status")};

}  // namespace

constexpr Schema kObjectMetaSchema{kObjectMetaFields};
constexpr Schema kLabelSelectorSchema{kLabelSelectorFields};
constexpr Schema kHostPathSchema{kHostPathFields};
constexpr Schema kNfsSchema{kNfsFields};
constexpr Schema kFlexSchema{kFlexFields};
constexpr Schema kCsiSchema{kCsiFields};
constexpr Schema kStorageClassSchema{kClassFields};
constexpr Schema kResourceQuotaSchema{kQuotaFields};
constexpr Schema kServiceSchema{kServiceFields};
constexpr Schema kNamespaceSchema{kNamespaceFields};
constexpr Schema kNodeSchema{kNodeFields};
constexpr Schema kConfigMapSchema{kConfigMapFields};
constexpr Schema kSecretSchema{kSecretFields};
constexpr Schema kEventSchema{kEventFields};
constexpr Schema kPersistentVolumeSchema{kVolumeFields};
constexpr Schema kPersistentVolumeClaimSchema{kClaimFields};
constexpr Schema kDeploymentSchema{kDeploymentFields};
constexpr Schema kReplicaSetSchema{kReplicaSetFields};

}  // namespace tfemu::api
