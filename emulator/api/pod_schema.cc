// v1.PodTemplateSpec and v1.Pod: every field of Kubernetes 1.33, and what becomes of it here.
#include "emulator/api/schemas.h"

namespace tfemu::api {
namespace {

constexpr Field kExecActionFields[] = {String("command").List()};
constexpr Schema kExecAction{kExecActionFields};

constexpr std::string_view kNoSecurity = "the host's security modules are left as they are";
constexpr std::string_view kNoPrivilege =
    "containers get no devices and no host; capabilities can be added one by one";
constexpr std::string_view kOneScheduler =
    "there is one scheduler, and it looks at resources, nodeSelector and taints";

constexpr Field kKeyToPathFields[] = {String("key"), Integer("mode"), String("path")};
constexpr Schema kKeyToPath{kKeyToPathFields};

constexpr Field kFieldRefFields[] = {String("apiVersion"), String("fieldPath")};
constexpr Schema kFieldRef{kFieldRefFields};
constexpr Field kResourceFieldRefFields[] = {String("containerName"), Field{"divisor", Type::kQuantity},
                                             String("resource")};
constexpr Schema kResourceFieldRef{kResourceFieldRefFields};
constexpr Field kKeyRefFields[] = {String("key"), String("name"), Boolean("optional")};
constexpr Schema kKeyRef{kKeyRefFields};

constexpr Field kEnvVarSourceFields[] = {OneOf("configMapKeyRef", kKeyRef), OneOf("fieldRef", kFieldRef),
                                         OneOf("resourceFieldRef", kResourceFieldRef),
                                         OneOf("secretKeyRef", kKeyRef)};
constexpr Schema kEnvVarSource{kEnvVarSourceFields};
constexpr Field kEnvVarFields[] = {String("name"), String("value"), OneOf("valueFrom", kEnvVarSource)};
constexpr Schema kEnvVar{kEnvVarFields};
constexpr Field kNameRefFields[] = {String("name"), Boolean("optional")};
constexpr Schema kNameRef{kNameRefFields};
constexpr Field kEnvFromFields[] = {OneOf("configMapRef", kNameRef), String("prefix"),
                                    OneOf("secretRef", kNameRef)};
constexpr Schema kEnvFrom{kEnvFromFields};

constexpr Field kContainerPortFields[] = {
    Integer("containerPort"), String("hostIP").Ignored("the host's addresses are not touched"),
    Integer("hostPort").Ignored("the host's ports are not touched; use tfemu port-forward"), String("name"),
    String("protocol")};
constexpr Schema kContainerPort{kContainerPortFields};

constexpr Field kResourceRequirementsFields[] = {
    Any("claims").List().Ignored("there is no dynamic resource allocation"),
    Field{"limits", Type::kQuantity, Shape::kMap}, Field{"requests", Type::kQuantity, Shape::kMap}};
constexpr Schema kResourceRequirements{kResourceRequirementsFields};

constexpr Field kVolumeMountFields[] = {
    String("mountPath"),
    String("mountPropagation").Approximated("always None: mounts made after the start are not passed on"),
    String("name"),
    Boolean("readOnly"),
    String("recursiveReadOnly").Approximated("readOnly is always recursive"),
    String("subPath"),
    String("subPathExpr")};
constexpr Schema kVolumeMount{kVolumeMountFields};

constexpr Field kHeaderFields[] = {String("name"), String("value")};
constexpr Schema kHeader{kHeaderFields};
constexpr Field kHttpGetFields[] = {
    String("host").Approximated("the Host header; the request goes to the pod"),
    ListOf("httpHeaders", kHeader), String("path"), Field{"port", Type::kIntOrString}, String("scheme")};
constexpr Schema kHttpGet{kHttpGetFields};
constexpr Field kTcpFields[] = {String("host").Approximated("the connection goes to the pod"),
                                Field{"port", Type::kIntOrString}};
constexpr Schema kTcp{kTcpFields};
constexpr Field kGrpcFields[] = {Integer("port"), String("service")};
constexpr Schema kGrpc{kGrpcFields};
constexpr Field kSleepFields[] = {Integer("seconds")};
constexpr Schema kSleep{kSleepFields};
constexpr Field kProbeFields[] = {OneOf("exec", kExecAction),
                                  Integer("failureThreshold"),
                                  OneOf("grpc", kGrpc),
                                  OneOf("httpGet", kHttpGet),
                                  Integer("initialDelaySeconds"),
                                  Integer("periodSeconds"),
                                  Integer("successThreshold"),
                                  OneOf("tcpSocket", kTcp),
                                  Integer("terminationGracePeriodSeconds").Approximated("the pod's is used"),
                                  Integer("timeoutSeconds")};
constexpr Schema kProbe{kProbeFields};
constexpr Field kHandlerFields[] = {OneOf("exec", kExecAction), OneOf("httpGet", kHttpGet),
                                    OneOf("sleep", kSleep), OneOf("tcpSocket", kTcp)};
constexpr Schema kHandler{kHandlerFields};
constexpr Field kLifecycleFields[] = {
    OneOf("postStart", kHandler).Approximated("the container shows as running meanwhile"),
    OneOf("preStop", kHandler), String("stopSignal").Ignored("containers are stopped with SIGTERM")};
constexpr Schema kLifecycle{kLifecycleFields};
constexpr Field kCapabilitiesFields[] = {String("add").List().Approximated("CAP_MKNOD is never given"),
                                         String("drop").List()};
constexpr Schema kCapabilities{kCapabilitiesFields};
constexpr Field kContainerSecurityFields[] = {
    Boolean("allowPrivilegeEscalation"),
    Any("appArmorProfile").Ignored(kNoSecurity),
    OneOf("capabilities", kCapabilities),
    Boolean("privileged").Ignored(kNoPrivilege),
    String("procMount").Ignored("/proc is always masked as by Default"),
    Boolean("readOnlyRootFilesystem"),
    Integer("runAsGroup"),
    Boolean("runAsNonRoot"),
    Integer("runAsUser"),
    Any("seLinuxOptions").Ignored(kNoSecurity),
    Any("seccompProfile").Ignored(kNoSecurity),
    Any("windowsOptions").Ignored("always linux")};
constexpr Schema kContainerSecurity{kContainerSecurityFields};

constexpr Field kContainerFields[] = {
    String("args").List(),
    String("command").List(),
    ListOf("env", kEnvVar),
    ListOf("envFrom", kEnvFrom),
    String("image"),
    String("imagePullPolicy").Approximated("images are folders of this host; nothing is pulled"),
    OneOf("lifecycle", kLifecycle),
    OneOf("livenessProbe", kProbe),
    String("name"),
    ListOf("ports", kContainerPort),
    OneOf("readinessProbe", kProbe),
    Any("resizePolicy").List().Ignored("resources are fixed when the container starts"),
    OneOf("resources", kResourceRequirements),
    String("restartPolicy"),
    OneOf("securityContext", kContainerSecurity),
    OneOf("startupProbe", kProbe),
    Boolean("stdin").Ignored("containers read from /dev/null"),
    Boolean("stdinOnce").Ignored("containers read from /dev/null"),
    String("terminationMessagePath"),
    String("terminationMessagePolicy"),
    Boolean("tty").Ignored("use tfemu exec -it"),
    Any("volumeDevices").List().Ignored("there are no block devices"),
    ListOf("volumeMounts", kVolumeMount),
    String("workingDir"),
};
constexpr Schema kContainer{kContainerFields};

constexpr Field kFileSourceFields[] = {Integer("defaultMode"), ListOf("items", kKeyToPath), String("name"),
                                       Boolean("optional"), String("secretName")};
constexpr Schema kFileSource{kFileSourceFields};
constexpr Field kDownwardFileFields[] = {OneOf("fieldRef", kFieldRef), Integer("mode"), String("path"),
                                         OneOf("resourceFieldRef", kResourceFieldRef)};
constexpr Schema kDownwardFile{kDownwardFileFields};
constexpr Field kDownwardFields[] = {Integer("defaultMode"), ListOf("items", kDownwardFile)};
constexpr Schema kDownward{kDownwardFields};
constexpr Field kTokenFields[] = {String("audience"), Integer("expirationSeconds"), String("path")};
constexpr Schema kToken{kTokenFields};
constexpr Field kProjectionFields[] = {
    Any("clusterTrustBundle").Ignored("there are no trust bundles"), OneOf("configMap", kFileSource),
    OneOf("downwardAPI", kDownward), OneOf("secret", kFileSource),
    OneOf("serviceAccountToken", kToken)
        .Approximated("no token is written: there is no API for it to open yet")};
constexpr Schema kProjection{kProjectionFields};
constexpr Field kProjectedFields[] = {Integer("defaultMode"), ListOf("sources", kProjection)};
constexpr Schema kProjected{kProjectedFields};

constexpr Field kEmptyDirFields[] = {String("medium"), Field{"sizeLimit", Type::kQuantity}};
constexpr Schema kEmptyDir{kEmptyDirFields};
constexpr Field kClaimRefFields[] = {String("claimName"), Boolean("readOnly")};
constexpr Schema kClaimRef{kClaimRefFields};

constexpr Field kVolumeFields[] = {Any("awsElasticBlockStore").Refused(kNoDisk),
                                   Any("azureDisk").Refused(kNoDisk),
                                   Any("azureFile").Refused(kNoDisk),
                                   Any("cephfs").Refused(kNoDisk),
                                   Any("cinder").Refused(kNoDisk),
                                   Any("fc").Refused(kNoDisk),
                                   Any("flocker").Refused(kNoDisk),
                                   Any("gcePersistentDisk").Refused(kNoDisk),
                                   Any("gitRepo").Refused(kNoDisk),
                                   Any("glusterfs").Refused(kNoDisk),
                                   Any("photonPersistentDisk").Refused(kNoDisk),
                                   Any("portworxVolume").Refused(kNoDisk),
                                   Any("quobyte").Refused(kNoDisk),
                                   Any("rbd").Refused(kNoDisk),
                                   Any("scaleIO").Refused(kNoDisk),
                                   Any("storageos").Refused(kNoDisk),
                                   Any("vsphereVolume").Refused(kNoDisk),
                                   OneOf("configMap", kFileSource),
                                   OneOf("csi", kCsiSchema),
                                   OneOf("downwardAPI", kDownward),
                                   OneOf("emptyDir", kEmptyDir),
                                   Any("ephemeral").Ignored(kNoVolume),
                                   OneOf("flexVolume", kFlexSchema),
                                   OneOf("hostPath", kHostPathSchema),
                                   Any("image").Ignored(kNoVolume),
                                   Any("iscsi").Ignored(kNoVolume),
                                   String("name"),
                                   OneOf("nfs", kNfsSchema),
                                   OneOf("persistentVolumeClaim", kClaimRef),
                                   OneOf("projected", kProjected),
                                   OneOf("secret", kFileSource)};
constexpr Schema kVolume{kVolumeFields};

constexpr Field kPodSecurityFields[] = {
    Any("appArmorProfile").Ignored(kNoSecurity),
    Integer("fsGroup"),
    String("fsGroupChangePolicy"),
    Integer("runAsGroup"),
    Boolean("runAsNonRoot"),
    Integer("runAsUser"),
    String("seLinuxChangePolicy").Ignored(kNoSecurity),
    Any("seLinuxOptions").Ignored(kNoSecurity),
    Any("seccompProfile").Ignored(kNoSecurity),
    Integer("supplementalGroups").List(),
    String("supplementalGroupsPolicy").Approximated("groups of the image count as under Merge"),
    Any("sysctls").List().Ignored("kernel parameters are the host's"),
    Any("windowsOptions").Ignored("always linux")};
constexpr Schema kPodSecurity{kPodSecurityFields};

constexpr Field kTolerationFields[] = {
    String("effect"), String("key"), String("operator"),
    Integer("tolerationSeconds").Approximated("pods are not evicted by taints"), String("value")};
constexpr Schema kToleration{kTolerationFields};
constexpr Field kHostAliasFields[] = {String("hostnames").List(), String("ip")};
constexpr Schema kHostAlias{kHostAliasFields};

constexpr Field kDnsOptionFields[] = {String("name"), String("value")};
constexpr Schema kDnsOption{kDnsOptionFields};
constexpr Field kDnsConfigFields[] = {String("nameservers").List(), ListOf("options", kDnsOption),
                                      String("searches").List()};
constexpr Schema kDnsConfig{kDnsConfigFields};

constexpr Field kPodSpecFields[] = {
    Integer("activeDeadlineSeconds"),
    Any("affinity").Ignored(kOneScheduler),
    Boolean("automountServiceAccountToken"),
    ListOf("containers", kContainer),
    OneOf("dnsConfig", kDnsConfig),
    String("dnsPolicy").Approximated("Default: the servers of the host, which pods do not reach"),
    Boolean("enableServiceLinks").Approximated("no environment variables are made for services"),
    Any("ephemeralContainers").List().Ignored("use tfemu exec"),
    ListOf("hostAliases", kHostAlias),
    Boolean("hostIPC").Ignored("every pod has its own namespaces"),
    Boolean("hostNetwork").Ignored("every pod has its own network"),
    Boolean("hostPID").Ignored("every pod has its own namespaces"),
    Boolean("hostUsers").Approximated("pods share the host's user namespace"),
    String("hostname"),
    Any("imagePullSecrets").List().Approximated("images are folders of this host; nothing is pulled"),
    ListOf("initContainers", kContainer),
    String("nodeName"),
    String("nodeSelector").Map(),
    Any("os").Approximated("always linux"),
    Any("overhead").Ignored("pods have no overhead"),
    String("preemptionPolicy").Approximated("no pod is preempted"),
    Integer("priority").Approximated("pods are scheduled in the order of their creation"),
    String("priorityClassName").Ignored("pods are scheduled in the order of their creation"),
    Any("readinessGates").List().Ignored("conditions of other controllers are not waited for"),
    Any("resourceClaims").List().Ignored("there is no dynamic resource allocation"),
    Any("resources").Ignored("set resources on the containers"),
    String("restartPolicy"),
    String("runtimeClassName").Ignored("there is one runtime"),
    String("schedulerName").Approximated(kOneScheduler),
    Any("schedulingGates").List().Ignored("pods are scheduled at once"),
    OneOf("securityContext", kPodSecurity),
    String("serviceAccount").Approximated("no token is written: there is no API for it to open yet"),
    String("serviceAccountName").Approximated("no token is written: there is no API for it to open yet"),
    Boolean("setHostnameAsFQDN").Ignored("the host name is the pod's short name"),
    Boolean("shareProcessNamespace"),
    String("subdomain"),
    Integer("terminationGracePeriodSeconds"),
    ListOf("tolerations", kToleration),
    Any("topologySpreadConstraints").List().Ignored(kOneScheduler),
    ListOf("volumes", kVolume),
};

constexpr Field kPodTemplateFields[] = {OneOf("metadata", kObjectMetaSchema), OneOf("spec", kPodSpecSchema)};
constexpr Field kPodFields[] = {String("apiVersion"), String("kind"), OneOf("metadata", kObjectMetaSchema),
                                OneOf("spec", kPodSpecSchema), Any("status")};

}  // namespace

constexpr Schema kPodSpecSchema{kPodSpecFields};
constexpr Schema kPodTemplateSchema{kPodTemplateFields};
constexpr Schema kPodSchema{kPodFields};

}  // namespace tfemu::api
