// v1.Service, and who stands behind it.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/pod.h"

namespace tfemu::api {

struct ServicePort {
  std::string name, protocol = "TCP",
                    target_name;  // target_name: a container port's name, when it is no number
  int port = 0, target_port = 0;
  friend bool operator==(const ServicePort&, const ServicePort&) = default;
};

struct Service {
  ObjectMeta meta;
  std::string type = "ClusterIP", cluster_ip;  // "None": headless; "": not yet given
  Labels selector;
  std::vector<ServicePort> ports;
  bool publish_not_ready_addresses = false;

  bool headless() const { return cluster_ip == "None"; }
  friend bool operator==(const Service&, const Service&) = default;
};

Service DecodeService(const Object& object);
void SetServiceDefaults(Json& service);
void SetClusterIp(Json& service, const std::string& address);
std::vector<FieldMessage> ValidateService(const Json& service, const Json* previous);

// The pods a service leads to: selected, with an address, and ready (or all, when it publishes those too).
// A service without a selector leads nowhere. `pods` are of any namespace; the result keeps their order.
std::vector<const Pod*> Endpoints(const Service& service, const std::vector<Pod>& pods);
// The number `port` means in `pod`; 0 when the pod has no port of that name.
int TargetPort(const ServicePort& port, const Pod& pod);

}  // namespace tfemu::api
