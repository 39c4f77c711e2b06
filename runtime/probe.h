// Carries out what a probe or a lifecycle handler asks of a running container.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/base/executor.h"

namespace tfemu::runtime {

struct ProbeRequest {
  enum class Type { kExec, kHttp, kTcp, kGrpc };
  Type type = Type::kExec;
  std::string pod_uid, container;
  std::vector<std::string> command;
  std::string address;  // the pod's
  int port = 0;
  std::string path, host;  // host: of the Host header, "" for the address
  std::vector<std::pair<std::string, std::string>> headers;
  std::string service;  // of kGrpc; "" is the server's own health
  Duration timeout{0};
  bool tls = false;  // of kHttp; certificates are not checked
};

struct ProbeOutcome {
  bool success = false;
  std::string output;  // why it failed, in the kubelet's words
};

class ProbeRunner {
 public:
  virtual ~ProbeRunner() = default;
  // `done` is called once, on the executor, at the latest when the time is over.
  virtual void Run(const ProbeRequest& request, std::function<void(const ProbeOutcome&)> done) = 0;
};

}  // namespace tfemu::runtime
