// A watch: the store's events of one kind, filtered by selector and name, to one client.
#pragma once

#include <optional>
#include <set>

#include "emulator/api/selector.h"
#include "emulator/manager/registry.h"
#include "emulator/rpc/stream.h"
#include "emulator/store/store.h"
#include "tfemu.pb.h"

namespace tfemu::rpc {

class WatchSession final : public StreamSession<v1::WatchRequest, v1::WatchReply> {
 public:
  WatchSession(const manager::Registry& registry, store::Store& store, const v1::WatchRequest& request)
      : registry_(registry), store_(store), request_(request) {}

  void Opened(StreamOut<v1::WatchReply>& out) override;
  void Closed() override;

 private:
  Result<void> Begin();
  bool Matches(const api::Object& object) const;
  void OnEvent(const store::WatchEvent& event);
  void Send(v1::WatchReply::Type type, const api::Object& object);

  const manager::Registry& registry_;
  store::Store& store_;
  v1::WatchRequest request_;
  api::Selector selector_;
  StreamOut<v1::WatchReply>* out_ = nullptr;
  std::optional<store::WatchId> watch_;
  std::set<api::ObjectKey> shown_;  // what the client has; only kept when a selector may hide objects
};

}  // namespace tfemu::rpc
