#include "emulator/api/probe.h"

#include <nlohmann/json.hpp>

#include "emulator/api/decode.h"
#include "emulator/api/object.h"
#include "emulator/api/validation.h"

namespace tfemu::api {
namespace {

using Type = HandlerAction::Type;

std::string Port(const Json& handler) {
  const Json& port = Member(handler, "port");
  return port.is_string() ? port.get<std::string>() : port.is_number_integer() ? port.dump() : "";
}

HandlerAction DecodeAction(const Json& doc) {
  HandlerAction action;
  if (const Json& exec = Member(doc, "exec"); exec.is_object()) {
    action.type = Type::kExec;
    action.command = Texts(exec, "command");
  } else if (const Json& http = Member(doc, "httpGet"); http.is_object()) {
    action.type = Type::kHttp;
    action.port = Port(http);
    action.host = Text(http, "host");
    if (const std::string path = Text(http, "path"); !path.empty()) action.path = path;
    if (const std::string scheme = Text(http, "scheme"); !scheme.empty()) action.scheme = scheme;
    for (const Json& header : Items(http, "httpHeaders"))
      action.headers.emplace_back(Text(header, "name"), Text(header, "value"));
  } else if (const Json& tcp = Member(doc, "tcpSocket"); tcp.is_object()) {
    action.type = Type::kTcp;
    action.port = Port(tcp);
    action.host = Text(tcp, "host");
  } else if (const Json& grpc = Member(doc, "grpc"); grpc.is_object()) {
    action.type = Type::kGrpc;
    action.port = Port(grpc);
    action.service = Text(grpc, "service");
  } else if (const Json& sleep = Member(doc, "sleep"); sleep.is_object()) {
    action.type = Type::kSleep;
    action.seconds = Int(sleep, "seconds").value_or(0);
  }
  return action;
}

std::optional<Probe> DecodeProbe(const Json& doc) {
  if (!doc.is_object()) return std::nullopt;
  Probe probe;
  probe.action = DecodeAction(doc);
  const auto seconds = [&](const char* name, int64_t otherwise) {
    return std::chrono::seconds(Int(doc, name).value_or(otherwise));
  };
  probe.initial_delay = seconds("initialDelaySeconds", 0);
  probe.timeout = seconds("timeoutSeconds", 1);
  probe.period = seconds("periodSeconds", 10);
  probe.success_threshold = static_cast<int>(Int(doc, "successThreshold").value_or(1));
  probe.failure_threshold = static_cast<int>(Int(doc, "failureThreshold").value_or(3));
  return probe;
}

void CheckHandler(const Json& doc, const std::string& at, Messages& messages) {
  int handlers = 0;
  for (const char* name : {"exec", "httpGet", "tcpSocket", "grpc", "sleep"})
    handlers += Member(doc, name).is_object() ? 1 : 0;
  if (handlers == 0) messages.push_back({at, "Required value: must specify a handler type"});
  if (handlers > 1) messages.push_back({at, "Forbidden: may not specify more than 1 handler type"});
  if (const Json& exec = Member(doc, "exec"); exec.is_object() && Items(exec, "command").empty())
    messages.push_back({at + ".exec.command", "Required value"});
  for (const char* name : {"httpGet", "tcpSocket", "grpc"})
    if (const Json& handler = Member(doc, name); handler.is_object() && Port(handler).empty())
      messages.push_back({at + "." + name + ".port", "Required value"});
}

}  // namespace

ContainerProbes DecodeProbes(const Json& container) {
  const Json& lifecycle = Member(container, "lifecycle");
  return {DecodeProbe(Member(container, "livenessProbe")), DecodeProbe(Member(container, "readinessProbe")),
          DecodeProbe(Member(container, "startupProbe")), DecodeAction(Member(lifecycle, "postStart")),
          DecodeAction(Member(lifecycle, "preStop"))};
}

std::vector<FieldMessage> ValidateProbes(const Json& container, const std::string& path) {
  Messages messages;
  for (const char* name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    const Json& probe = Member(container, name);
    if (!probe.is_object()) continue;
    const std::string at = path + "." + name;
    CheckHandler(probe, at, messages);
    for (const char* field :
         {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"})
      CheckNotNegative(probe, field, at, messages);
    if (std::string_view(name) != "readinessProbe" && Int(probe, "successThreshold").value_or(1) != 1)
      messages.push_back({at + ".successThreshold", "Invalid value: must be 1"});
  }
  for (const char* name : {"postStart", "preStop"})
    if (const Json& handler = Member(Member(container, "lifecycle"), name); handler.is_object())
      CheckHandler(handler, path + ".lifecycle." + name, messages);
  return messages;
}

}  // namespace tfemu::api
