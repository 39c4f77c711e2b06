#include "emulator/manager/garbage_collector.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/lifecycle.h"
#include "emulator/api/meta.h"

namespace tfemu::manager {
namespace {

api::ObjectKey KeyOf(const api::OwnerReference& owner, const api::Kind& kind, const std::string& ns) {
  return {owner.kind, kind.namespaced ? ns : "", owner.name};
}

// One that went by itself in the meantime is as good as deleted.
Result<void> Gone(const Result<api::Object>& deleted) {
  if (deleted.ok() || deleted.error().reason == Reason::kNotFound) return {};
  return deleted.error();
}

}  // namespace

GarbageCollector::GarbageCollector(Executor& executor, store::Store& store, Registry& registry)
    : store_(store),
      registry_(registry),
      namespaces_(executor, [this](const api::ObjectKey& key) { return SyncNamespace(key); }),
      objects_(executor, [this](const api::ObjectKey& key) { return SyncObject(key); }) {}

void GarbageCollector::OnWatch(const store::WatchEvent& event) {
  const api::ObjectKey& key = event.object.key();
  if (key.kind == "Event") return;
  if (key.kind == "Namespace" && event.object.terminating()) namespaces_.Add(key);
  Track(event);
  if (event.type != store::WatchType::kDeleted) return;
  // The last thing in a terminating namespace may just have gone.
  if (!key.ns.empty()) namespaces_.Add({"Namespace", "", key.ns});
}

void GarbageCollector::Track(const store::WatchEvent& event) {
  const api::ObjectKey& key = event.object.key();
  const bool gone = event.type == store::WatchType::kDeleted;
  if (const auto old = owner_uids_.find(key); old != owner_uids_.end()) {
    for (const std::string& uid : old->second)
      if (const auto of = dependents_.find(uid);
          of != dependents_.end() && of->second.erase(key) > 0 && of->second.empty())
        dependents_.erase(of);
    owner_uids_.erase(old);
  }
  for (const api::OwnerReference& owner : api::DecodeMeta(event.object).owner_references) {
    if (!gone) {
      dependents_[owner.uid].insert(key);
      owner_uids_[key].push_back(owner.uid);
      if (event.type == store::WatchType::kAdded) objects_.Add(key);
    } else if (const api::Kind* kind = api::FindKind(owner.kind)) {
      objects_.Add(KeyOf(owner, *kind, key.ns));  // it may have waited for this one
    }
  }
  if (!gone && api::AwaitsDependents(event.object)) objects_.Add(key);
  if (!gone) return;
  if (const auto left = dependents_.find(event.object.uid()); left != dependents_.end())
    for (const api::ObjectKey& dependent : left->second) objects_.Add(dependent);
}

bool GarbageCollector::Owned(const api::Object& object) const {
  const auto owners = api::DecodeMeta(object).owner_references;
  return owners.empty() || std::ranges::any_of(owners, [&](const api::OwnerReference& owner) {
           const api::Kind* kind = api::FindKind(owner.kind);
           if (kind == nullptr) return true;
           const auto live = store_.Get(KeyOf(owner, *kind, object.key().ns));
           return live.ok() && live.value().uid() == owner.uid;
         });
}

Result<void> GarbageCollector::SyncObject(const api::ObjectKey& key) {
  const auto object = store_.Get(key);
  if (!object.ok()) return {};
  if (api::AwaitsDependents(object.value())) return DeleteDependents(object.value());
  if (object.value().terminating() || Owned(object.value())) return {};
  return Gone(registry_.Delete(key, {}));
}

Result<void> GarbageCollector::DeleteDependents(const api::Object& owner) {
  const auto of = dependents_.find(owner.uid());
  const std::set<api::ObjectKey> dependents =
      of == dependents_.end() ? std::set<api::ObjectKey>() : of->second;
  bool waits = false;
  for (const api::ObjectKey& key : dependents) {
    const auto object = store_.Get(key);
    if (!object.ok()) continue;
    if (!object.value().terminating()) {
      // One that has dependents itself goes after them.
      const bool owns = dependents_.contains(object.value().uid());
      RETURN_IF_ERROR(Gone(registry_.Delete(
          key, {.propagation = owns ? Propagation::kForeground : Propagation::kBackground})));
    }
    waits = waits || store_.Get(key).ok();
  }
  if (waits) return {};
  return Gone(registry_.Patch(owner.key(), owner.uid(), "", api::DependentsGonePatch(owner)));
}

Result<void> GarbageCollector::SyncNamespace(const api::ObjectKey& key) {
  const auto ns = store_.Get(key);
  if (!ns.ok() || !ns.value().terminating()) return {};
  const auto content = store_.List({"", key.name}).objects;
  for (const api::Object& object : content)
    if (!object.terminating()) RETURN_IF_ERROR(Gone(registry_.Delete(object.key(), {})));
  if (store_.List({"", key.name}).objects.empty()) return registry_.Remove(key, ns.value().uid());
  return {};
}

}  // namespace tfemu::manager
