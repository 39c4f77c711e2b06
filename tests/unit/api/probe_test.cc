// Probes and lifecycle handlers as a manifest has them.
#include "emulator/api/probe.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace tfemu::api {
namespace {

using namespace std::chrono_literals;

TEST_CASE("decoded handlers carry every member") {
  const ContainerProbes probes = DecodeProbes(nlohmann::json::parse(R"({
    "livenessProbe": {"httpGet": {"path": "/p", "port": "web", "host": "h", "scheme": "HTTPS",
        "httpHeaders": [{"name": "A", "value": "1"}]}, "initialDelaySeconds": 1, "timeoutSeconds": 2,
        "periodSeconds": 3, "successThreshold": 1, "failureThreshold": 5},
    "readinessProbe": {"grpc": {"port": 7, "service": "s"}},
    "startupProbe": {"tcpSocket": {"port": 8, "host": "t"}},
    "lifecycle": {"postStart": {"exec": {"command": ["a", "b"]}}, "preStop": {"sleep": {"seconds": 9}}}})"));
  const Probe& http = *probes.liveness;
  CHECK(http.action ==
        HandlerAction{HandlerAction::Type::kHttp, {}, "web", "h", "/p", "HTTPS", {{"A", "1"}}});
  CHECK((http.initial_delay == 1s && http.timeout == 2s && http.period == 3s));
  CHECK((http.success_threshold == 1 && http.failure_threshold == 5));
  CHECK(probes.readiness->action.type == HandlerAction::Type::kGrpc);
  CHECK((probes.readiness->action.port == "7" && probes.readiness->action.service == "s"));
  CHECK((probes.readiness->timeout == 1s && probes.readiness->period == 10s));
  CHECK((probes.startup->action.port == "8" && probes.startup->action.host == "t"));
  CHECK(probes.post_start.command == std::vector<std::string>{"a", "b"});
  CHECK((probes.pre_stop.type == HandlerAction::Type::kSleep && probes.pre_stop.seconds == 9));
}

}  // namespace
}  // namespace tfemu::api
