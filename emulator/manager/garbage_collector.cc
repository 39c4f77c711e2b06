#include "emulator/manager/garbage_collector.h"

#include <algorithm>

#include "emulator/api/meta.h"

namespace tfemu::manager {
namespace {

bool HasOwner(const api::Object& object, const std::string& uid) {
  const auto owners = api::DecodeMeta(object).owner_references;
  return std::ranges::find(owners, uid, &api::OwnerReference::uid) != owners.end();
}

}  // namespace

GarbageCollector::GarbageCollector(Executor& executor, store::Store& store, Registry& registry)
    : store_(store),
      registry_(registry),
      namespaces_(executor, [this](const api::ObjectKey& key) { return SyncNamespace(key); }) {}

void GarbageCollector::OnWatch(const store::WatchEvent& event) {
  const api::ObjectKey& key = event.object.key();
  if (key.kind == "Event") return;
  if (key.kind == "Namespace" && event.object.terminating()) namespaces_.Add(key);
  if (event.type != store::WatchType::kDeleted) return;
  CollectDependents(event.object);
  // The last thing in a terminating namespace may just have gone.
  if (!key.ns.empty()) namespaces_.Add({"Namespace", "", key.ns});
}

void GarbageCollector::CollectDependents(const api::Object& owner) {
  for (const char* kind : {"ReplicaSet", "Service", "Pod"})
    for (const api::Object& object : store_.List({kind, owner.key().ns}).objects)
      if (!object.terminating() && HasOwner(object, owner.uid()))
        (void)registry_.Delete(object.key(), {}).ok();
}

Result<void> GarbageCollector::SyncNamespace(const api::ObjectKey& key) {
  const auto ns = store_.Get(key);
  if (!ns.ok() || !ns.value().terminating()) return {};
  const auto content = store_.List({"", key.name}).objects;
  for (const api::Object& object : content)
    if (!object.terminating()) (void)registry_.Delete(object.key(), {}).ok();
  if (store_.List({"", key.name}).objects.empty()) return registry_.Remove(key, ns.value().uid());
  return {};
}

}  // namespace tfemu::manager
