#include "emulator/api/printer.h"

#include <algorithm>

#include "emulator/api/printer_fields.h"
#include "emulator/api/selector.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

constexpr bool kWide = true;

std::string Name(const Json& doc) { return FieldText(doc, "metadata.name"); }

std::vector<std::string> PrintNameAndAge(const Json& doc, Instant now) {
  return {Name(doc), AgeOf(doc, now)};
}

// The CRD's printer columns: the type of the last condition.
std::vector<std::string> PrintTFJob(const Json& job, Instant now) {
  const Json& conditions = FieldList(job, "status.conditions");
  return {Name(job), conditions.empty() ? "" : FieldText(conditions.back(), "type"), AgeOf(job, now)};
}

std::string SelectorCell(const Json& doc) {
  const Json& selector = Field(doc, "spec.selector.matchLabels");
  return selector.is_object() ? JoinLabels(selector, ",") : "<none>";
}

std::vector<std::string> PrintBatchJob(const Json& job, Instant now) {
  std::string status = "Running";
  for (const auto& condition : FieldList(job, "status.conditions"))
    if (const std::string type = FieldText(condition, "type");
        FieldText(condition, "status") == "True" &&
        (type == "Complete" || type == "Failed" || type == "Suspended"))
      status = type;
  const std::string done = std::to_string(FieldInt(job, "status.succeeded"));
  const std::string wanted = FieldText(job, "spec.completions");
  const auto parallelism = FieldInt(job, "spec.parallelism");
  const std::string completions = !wanted.empty()   ? done + "/" + wanted
                                  : parallelism > 1 ? done + "/1 of " + std::to_string(parallelism)
                                                    : done + "/1";
  const auto start = ParseTime(FieldText(job, "status.startTime"));
  const auto end = ParseTime(FieldText(job, "status.completionTime"));
  const std::string duration = start ? FormatAge(end.value_or(now) - *start) : "";
  return {Name(job),
          status,
          completions,
          duration,
          AgeOf(job, now),
          ContainerColumn(job, "spec.template.spec.containers", "name"),
          ContainerColumn(job, "spec.template.spec.containers", "image"),
          SelectorCell(job)};
}

std::vector<std::string> PrintDeployment(const Json& doc, Instant now) {
  return {Name(doc),
          std::to_string(FieldInt(doc, "status.readyReplicas")) + "/" +
              std::to_string(FieldInt(doc, "spec.replicas")),
          std::to_string(FieldInt(doc, "status.updatedReplicas")),
          std::to_string(FieldInt(doc, "status.availableReplicas")),
          AgeOf(doc, now),
          ContainerColumn(doc, "spec.template.spec.containers", "name"),
          ContainerColumn(doc, "spec.template.spec.containers", "image"),
          SelectorCell(doc)};
}

std::vector<std::string> PrintReplicaSet(const Json& doc, Instant now) {
  return {Name(doc),
          std::to_string(FieldInt(doc, "spec.replicas")),
          std::to_string(FieldInt(doc, "status.replicas")),
          std::to_string(FieldInt(doc, "status.readyReplicas")),
          AgeOf(doc, now),
          ContainerColumn(doc, "spec.template.spec.containers", "name"),
          ContainerColumn(doc, "spec.template.spec.containers", "image"),
          SelectorCell(doc)};
}

std::vector<std::string> PrintStatefulSet(const Json& doc, Instant now) {
  return {Name(doc),
          std::to_string(FieldInt(doc, "status.readyReplicas")) + "/" +
              std::to_string(FieldInt(doc, "spec.replicas")),
          AgeOf(doc, now), ContainerColumn(doc, "spec.template.spec.containers", "name"),
          ContainerColumn(doc, "spec.template.spec.containers", "image")};
}

std::vector<std::string> PrintDaemonSet(const Json& doc, Instant now) {
  const auto count = [&](const char* path) { return std::to_string(FieldInt(doc, path)); };
  return {Name(doc),
          count("status.desiredNumberScheduled"),
          count("status.currentNumberScheduled"),
          count("status.numberReady"),
          count("status.updatedNumberScheduled"),
          count("status.numberAvailable"),
          JoinLabels(Field(doc, "spec.template.spec.nodeSelector"), ","),
          AgeOf(doc, now),
          ContainerColumn(doc, "spec.template.spec.containers", "name"),
          ContainerColumn(doc, "spec.template.spec.containers", "image"),
          SelectorCell(doc)};
}

std::vector<std::string> PrintControllerRevision(const Json& doc, Instant now) {
  std::string owner = "<none>";
  for (const Json& reference : FieldList(doc, "metadata.ownerReferences"))
    if (Field(reference, "controller") == true)
      owner = ToLower(FieldText(reference, "kind")) + ".apps/" + FieldText(reference, "name");
  return {Name(doc), owner, FieldText(doc, "revision"), AgeOf(doc, now)};
}

std::vector<std::string> PrintCronJob(const Json& doc, Instant now) {
  const std::string last = FieldText(doc, "status.lastScheduleTime");
  constexpr const char* kContainers = "spec.jobTemplate.spec.template.spec.containers";
  return {Name(doc),
          FieldText(doc, "spec.schedule"),
          TextOr(FieldText(doc, "spec.timeZone"), "<none>"),
          Field(doc, "spec.suspend") == true ? "True" : "False",
          std::to_string(FieldList(doc, "status.active").size()),
          last.empty() ? "<none>" : AgeSince(last, now),
          AgeOf(doc, now),
          ContainerColumn(doc, kContainers, "name"),
          ContainerColumn(doc, kContainers, "image"),
          "<none>"};
}

std::vector<std::string> PrintNamespace(const Json& doc, Instant now) {
  return {Name(doc), FieldText(doc, "status.phase"), AgeOf(doc, now)};
}

size_t CountMembers(const Json& value) { return value.is_object() ? value.size() : 0; }

std::vector<std::string> PrintConfigMap(const Json& doc, Instant now) {
  return {Name(doc),
          std::to_string(CountMembers(Field(doc, "data")) + CountMembers(Field(doc, "binaryData"))),
          AgeOf(doc, now)};
}

std::vector<std::string> PrintSecret(const Json& doc, Instant now) {
  return {Name(doc), TextOr(FieldText(doc, "type"), "Opaque"),
          std::to_string(CountMembers(Field(doc, "data"))), AgeOf(doc, now)};
}

// A table, a row a line.
// clang-format off
const std::vector<KindPrinter>& Printers() {
  static const std::vector<KindPrinter> printers = {
      {"Pod",
       {{"Name"}, {"Ready"}, {"Status"}, {"Restarts"}, {"Age"}, {"IP", kWide}, {"Node", kWide},
        {"Nominated Node", kWide}, {"Readiness Gates", kWide}},
       PrintPod},
      {"TFJob", {{"Name"}, {"State"}, {"Age"}}, PrintTFJob},
      {"Job",
       {{"Name"}, {"Status"}, {"Completions"}, {"Duration"}, {"Age"}, {"Containers", kWide}, {"Images", kWide},
        {"Selector", kWide}},
       PrintBatchJob},
      {"Deployment",
       {{"Name"}, {"Ready"}, {"Up-to-date"}, {"Available"}, {"Age"}, {"Containers", kWide}, {"Images", kWide},
        {"Selector", kWide}},
       PrintDeployment},
      {"ReplicaSet",
       {{"Name"}, {"Desired"}, {"Current"}, {"Ready"}, {"Age"}, {"Containers", kWide}, {"Images", kWide},
        {"Selector", kWide}},
       PrintReplicaSet},
      {"StatefulSet", {{"Name"}, {"Ready"}, {"Age"}, {"Containers", kWide}, {"Images", kWide}}, PrintStatefulSet},
      {"DaemonSet",
       {{"Name"}, {"Desired"}, {"Current"}, {"Ready"}, {"Up-to-date"}, {"Available"}, {"Node Selector"}, {"Age"},
        {"Containers", kWide}, {"Images", kWide}, {"Selector", kWide}},
       PrintDaemonSet},
      {"ControllerRevision", {{"Name"}, {"Controller"}, {"Revision"}, {"Age"}}, PrintControllerRevision},
      {"CronJob",
       {{"Name"}, {"Schedule"}, {"Timezone"}, {"Suspend"}, {"Active"}, {"Last Schedule"}, {"Age"}, {"Containers", kWide},
        {"Images", kWide}, {"Selector", kWide}},
       PrintCronJob},
      {"Service",
       {{"Name"}, {"Type"}, {"Cluster-IP"}, {"External-IP"}, {"Port(s)"}, {"Age"}, {"Selector", kWide}},
       PrintService},
      {"PersistentVolume",
       {{"Name"}, {"Capacity"}, {"Access Modes"}, {"Reclaim Policy"}, {"Status"}, {"Claim"}, {"StorageClass"},
        {"VolumeAttributesClass"}, {"Reason"}, {"Age"}, {"VolumeMode", kWide}},
       PrintVolume},
      {"PersistentVolumeClaim",
       {{"Name"}, {"Status"}, {"Volume"}, {"Capacity"}, {"Access Modes"}, {"StorageClass"},
        {"VolumeAttributesClass"}, {"Age"}, {"VolumeMode", kWide}},
       PrintClaim},
      {"StorageClass",
       {{"Name"}, {"Provisioner"}, {"ReclaimPolicy"}, {"VolumeBindingMode"}, {"AllowVolumeExpansion"}, {"Age"}},
       PrintStorageClass},
      {"ResourceQuota", {{"Name"}, {"Request"}, {"Limit"}, {"Age"}}, PrintResourceQuota},
      {"Node",
       {{"Name"}, {"Status"}, {"Roles"}, {"Age"}, {"Version"}, {"Internal-IP", kWide}, {"External-IP", kWide},
        {"OS-Image", kWide}, {"Kernel-Version", kWide}, {"Container-Runtime", kWide}, {"GPUs", kWide}},
       PrintNode},
      {"Event",
       {{"Last Seen"}, {"Type"}, {"Reason"}, {"Object"}, {"Subobject", kWide}, {"Source", kWide}, {"Message"},
        {"First Seen", kWide}, {"Count", kWide}, {"Name", kWide}},
       PrintEvent},
      {"Namespace", {{"Name"}, {"Status"}, {"Age"}}, PrintNamespace},
      {"ConfigMap", {{"Name"}, {"Data"}, {"Age"}}, PrintConfigMap},
      {"Secret", {{"Name"}, {"Type"}, {"Data"}, {"Age"}}, PrintSecret},
  };
  return printers;
}
// clang-format on

}  // namespace

Table PrintTable(std::string_view kind, std::span<const Object> objects, Instant now) {
  const auto printer = std::ranges::find(Printers(), kind, &KindPrinter::kind);
  const bool known = printer != Printers().end();
  Table table{known ? printer->columns : std::vector<Column>{{"Name"}, {"Age"}}, {}};
  for (const auto& object : objects)
    table.rows.push_back(
        {object.key().ns, known ? printer->print(object.doc(), now) : PrintNameAndAge(object.doc(), now)});
  return table;
}

}  // namespace tfemu::api
