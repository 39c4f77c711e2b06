// What the API server and its admission plugins fill in for pods (Kubernetes 1.33).
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/pod.h"
#include "emulator/base/strings.h"

namespace tfemu::api {
namespace {

// No tag, or the tag latest, means the newest there is: then the image is asked for every time.
std::string PullPolicy(const std::string& image) {
  const std::string last = Split(image, '/').back();
  if (last.find('@') != std::string::npos) return "IfNotPresent";
  const size_t colon = last.find(':');
  return colon == std::string::npos || last.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void DefaultContainer(Json& container) {
  SetDefault(container, "imagePullPolicy", PullPolicy(Text(container, "image")));
  SetDefault(container, "terminationMessagePath", "/dev/termination-log");
  SetDefault(container, "terminationMessagePolicy", "File");
  SetDefault(container, "resources", Json::object());
  Json& resources = container["resources"];
  for (const char* list : {"limits", "requests"})
    if (resources.contains(list) && resources[list].is_object())
      for (auto& [name, amount] : resources[list].items())
        if (amount.is_number()) amount = amount.dump();
  if (const Json& limits = Member(resources, "limits"); limits.is_object()) {
    Json requests = limits;
    if (Member(resources, "requests").is_object()) requests.update(resources["requests"]);
    resources["requests"] = std::move(requests);
  }
  if (container.contains("ports") && container["ports"].is_array())
    for (Json& port : container["ports"]) SetDefault(port, "protocol", "TCP");
  if (container.contains("env") && container["env"].is_array())
    for (Json& var : container["env"])
      if (Member(Member(var, "valueFrom"), "fieldRef").is_object())
        SetDefault(var["valueFrom"]["fieldRef"], "apiVersion", "v1");
}

void DefaultVolume(Json& volume) {
  for (const char* files : {"configMap", "secret", "downwardAPI", "projected"})
    if (Member(volume, files).is_object()) SetDefault(volume[files], "defaultMode", 420);
  if (Member(volume, "hostPath").is_object()) SetDefault(volume["hostPath"], "type", "");
  if (volume.is_object() && volume.size() == 1 && volume.contains("name"))
    volume["emptyDir"] = Json::object();
}

Json TokenVolume(const std::string& name) {
  const Json token =
      Json::object({{"serviceAccountToken", Json::object({{"expirationSeconds", 3607}, {"path", "token"}})}});
  Json ca_items = Json::array();
  ca_items.push_back(Json::object({{"key", "ca.crt"}, {"path", "ca.crt"}}));
  const Json ca =
      Json::object({{"configMap", Json::object({{"items", ca_items}, {"name", "kube-root-ca.crt"}})}});
  const Json field = Json::object({{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}});
  Json ns_items = Json::array();
  ns_items.push_back(Json::object({{"fieldRef", field}, {"path", "namespace"}}));
  const Json ns = Json::object({{"downwardAPI", Json::object({{"items", ns_items}})}});
  return Json::object(
      {{"name", name},
       {"projected", Json::object({{"defaultMode", 420}, {"sources", Json::array({token, ca, ns})}})}});
}

bool MountsTokenAlready(const Json& container) {
  for (const Json& mount : Items(container, "volumeMounts"))
    if (Text(mount, "mountPath") == "/var/run/secrets/kubernetes.io/serviceaccount") return true;
  return false;
}

void MountToken(Json& spec, const std::string& volume) {
  bool used = false;
  for (const char* list : {"initContainers", "containers"}) {
    if (!spec.contains(list)) continue;
    for (Json& container : spec[list]) {
      if (MountsTokenAlready(container)) continue;
      container["volumeMounts"].push_back(
          Json::object({{"mountPath", "/var/run/secrets/kubernetes.io/serviceaccount"},
                        {"name", volume},
                        {"readOnly", true}}));
      used = true;
    }
  }
  if (used) spec["volumes"].push_back(TokenVolume(volume));
}

void Tolerate(Json& spec, const char* key) {
  for (const Json& toleration : Items(spec, "tolerations")) {
    const bool any_key = Text(toleration, "key").empty() && Text(toleration, "operator") == "Exists";
    if (any_key || Text(toleration, "key") == key) return;
  }
  spec["tolerations"].push_back(Json::object(
      {{"effect", "NoExecute"}, {"key", key}, {"operator", "Exists"}, {"tolerationSeconds", 300}}));
}

}  // namespace

void SetPodTemplateDefaults(Json& pod) {
  Json& spec = pod["spec"];
  SetDefault(spec, "dnsPolicy", "ClusterFirst");
  SetDefault(spec, "restartPolicy", "Always");
  SetDefault(spec, "schedulerName", "default-scheduler");
  SetDefault(spec, "securityContext", Json::object());
  SetDefault(spec, "terminationGracePeriodSeconds", 30);
  for (const char* list : {"initContainers", "containers"})
    if (spec.contains(list) && spec[list].is_array())
      for (Json& container : spec[list])
        if (container.is_object()) DefaultContainer(container);
  if (spec.contains("volumes") && spec["volumes"].is_array())
    for (Json& volume : spec["volumes"]) DefaultVolume(volume);
}

void SetPodDefaults(Json& pod) {
  SetPodTemplateDefaults(pod);
  SetDefault(pod["spec"], "enableServiceLinks", true);
}

void AdmitPod(Json& pod, const std::string& suffix) {
  Json& spec = pod["spec"];
  SetDefault(spec, "serviceAccountName", "default");
  SetDefault(spec, "serviceAccount", spec["serviceAccountName"]);
  SetDefault(spec, "priority", 0);
  SetDefault(spec, "preemptionPolicy", "PreemptLowerPriority");
  Tolerate(spec, "node.kubernetes.io/not-ready");
  Tolerate(spec, "node.kubernetes.io/unreachable");
  if (Bool(spec, "automountServiceAccountToken", true)) MountToken(spec, "kube-api-access-" + suffix);
}

}  // namespace tfemu::api
