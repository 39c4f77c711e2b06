// v1.Probe and v1.Lifecycle: what a kubelet asks of a running container, and does when one starts or ends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/base/error.h"
#include "emulator/base/executor.h"

namespace tfemu::api {

// One of exec, httpGet, tcpSocket, grpc, sleep.
struct HandlerAction {
  enum class Type { kNone, kExec, kHttp, kTcp, kGrpc, kSleep };
  Type type = Type::kNone;
  std::vector<std::string> command;
  std::string port;  // a number, or the name of one of the container's ports
  std::string host, path = "/", scheme = "HTTP";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string service;  // of grpc.health.v1; "" is the server's
  int64_t seconds = 0;  // of sleep
  friend bool operator==(const HandlerAction&, const HandlerAction&) = default;
};

struct Probe {
  HandlerAction action;
  Duration initial_delay{0}, timeout = std::chrono::seconds(1), period = std::chrono::seconds(10);
  int success_threshold = 1, failure_threshold = 3;
  friend bool operator==(const Probe&, const Probe&) = default;
};

struct ContainerProbes {
  std::optional<Probe> liveness, readiness, startup;
  HandlerAction post_start, pre_stop;
  friend bool operator==(const ContainerProbes&, const ContainerProbes&) = default;
};
ContainerProbes DecodeProbes(const nlohmann::json& container);

// What the API server refuses in the probes and the lifecycle of the container at `path`.
std::vector<FieldMessage> ValidateProbes(const nlohmann::json& container, const std::string& path);

}  // namespace tfemu::api
