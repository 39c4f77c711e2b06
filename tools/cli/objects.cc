#include "tools/cli/objects.h"

#include "emulator/rpc/client.h"

namespace tfemu::cli {

rpc::v1::Key ToMessage(const api::ObjectKey& key) {
  rpc::v1::Key message;
  message.set_kind(key.kind);
  message.set_ns(key.ns);
  message.set_name(key.name);
  return message;
}

Result<api::Object> Decode(const std::string& json) { return api::ParseObject(json); }

Result<api::Object> GetObject(rpc::Client& client, const api::ObjectKey& key) {
  rpc::v1::GetRequest request;
  *request.mutable_key() = ToMessage(key);
  ASSIGN_OR_RETURN(const auto reply, client.Call(&rpc::Stub::Get, request));
  return Decode(reply.json());
}

Result<Objects> ListObjects(rpc::Client& client, const ObjectQuery& query) {
  rpc::v1::ListRequest request;
  request.set_kind(query.kind);
  request.set_ns(query.ns);
  request.set_selector(query.selector);
  ASSIGN_OR_RETURN(const auto reply, client.Call(&rpc::Stub::List, request));
  Objects result;
  result.revision = reply.revision();
  for (const auto& json : reply.json()) {
    ASSIGN_OR_RETURN(auto object, Decode(json));
    result.objects.push_back(std::move(object));
  }
  return result;
}

}  // namespace tfemu::cli
