// What the cluster's DNS says: the records of Kubernetes' DNS specification 1.1.0, for services and pods.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/api/service.h"

namespace tfemu::controllers {

struct DnsQuestion {
  std::string name;  // without the final dot, any case
  enum class Type { kA, kSrv, kPtr, kOther } type = Type::kA;
};

struct DnsRecord {
  enum class Type { kA, kSrv, kPtr } type = Type::kA;
  std::string target;  // an address, or a name without its final dot
  int port = 0;        // kSrv
  friend bool operator==(const DnsRecord&, const DnsRecord&) = default;
};

struct DnsAnswer {
  bool exists = false;  // the name; it may have no record of the type asked for
  std::vector<DnsRecord> records;
  friend bool operator==(const DnsAnswer&, const DnsAnswer&) = default;
};

// What the zone is made of, looked up as it is needed.
struct DnsView {
  std::string domain = "cluster.local";
  std::string custom_domain = {};  // names below svc are answered with it, too
  std::function<std::optional<api::Service>(const std::string& ns, const std::string& name)> service;
  std::function<std::vector<api::Service>()> services;               // all
  std::function<std::vector<api::Pod>(const std::string& ns)> pods;  // "": all
};

DnsAnswer Resolve(const DnsView& view, const DnsQuestion& question);

}  // namespace tfemu::controllers
