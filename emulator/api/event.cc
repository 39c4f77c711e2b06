#include "emulator/api/event.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/base/strings.h"
#include "emulator/base/time_format.h"

namespace tfemu::api {
namespace {

Json EncodeReference(const ObjectReference& r) {
  Json reference = Json::object({{"apiVersion", r.api_version},
                                 {"kind", r.kind},
                                 {"name", r.name},
                                 {"uid", r.uid},
                                 {"resourceVersion", std::to_string(r.resource_version)}});
  if (!r.ns.empty()) reference["namespace"] = r.ns;
  return reference;
}

}  // namespace

ObjectReference InvolvedObject(const Object& event) {
  const Json& r = Member(event.doc(), "involvedObject");
  const auto version = ParseInt(Text(r, "resourceVersion"));
  return {Text(r, "apiVersion"), Text(r, "kind"), Text(r, "namespace"),
          Text(r, "name"),       Text(r, "uid"),  static_cast<uint64_t>(version.value_or(0))};
}

std::string CorrelationKey(const Event& event) {
  return event.component + "\n" + event.host + "\n" + event.involved.uid + "\n" + event.reason + "\n" +
         event.message + (event.warning ? "\nW" : "\nN");
}

Json MakeEvent(const Event& event, Instant now) {
  char stamp[24];
  std::snprintf(stamp, sizeof stamp, "%016llx", static_cast<unsigned long long>(now.ns));
  Json doc = Json::object({
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", Json::object({{"name", event.involved.name + "." + stamp},
                                 {"namespace", event.involved.ns.empty() ? "default" : event.involved.ns}})},
      {"involvedObject", EncodeReference(event.involved)},
      {"reason", event.reason},
      {"message", event.message},
      {"type", event.warning ? "Warning" : "Normal"},
      {"reportingComponent", event.component},
  });
  if (event.component == "default-scheduler") {
    doc["action"] = event.warning ? "Scheduling" : "Binding";
    doc["eventTime"] = FormatMicroTime(now);
    doc["firstTimestamp"] = nullptr;
    doc["lastTimestamp"] = nullptr;
    doc["source"] = Json::object();
    doc["reportingInstance"] = "default-scheduler-tfemu";
    return doc;
  }
  doc["source"] = Json::object({{"component", event.component}});
  if (!event.host.empty()) doc["source"]["host"] = event.host;
  doc["eventTime"] = nullptr;
  doc["firstTimestamp"] = FormatTime(now);
  doc["lastTimestamp"] = FormatTime(now);
  doc["count"] = 1;
  doc["reportingInstance"] = event.host;
  return doc;
}

ToldEvent DecodeEvent(const Object& object) {
  const Json& doc = object.doc();
  const Json& source = Member(doc, "source");
  ToldEvent told;
  told.event = {InvolvedObject(object), Text(doc, "type") == "Warning",  Text(doc, "reason"),
                Text(doc, "message"),   Text(doc, "reportingComponent"), Text(source, "host")};
  told.count = static_cast<int>(Int(doc, "count").value_or(1));
  told.last = ParseTime(Text(doc, "lastTimestamp")).value_or(DecodeMeta(object).creation_timestamp);
  return told;
}

Json RepeatEventPatch(int count, Instant now) {
  return Json::object({{"count", count}, {"lastTimestamp", FormatTime(now)}});
}

}  // namespace tfemu::api
