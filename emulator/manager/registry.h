// The one door to the store for users' writes: decoding, defaults, validation, uids, graceful deletion.
// Every front end (gRPC, later REST) and every controller's create goes through it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/api/object.h"
#include "emulator/api/scheme.h"
#include "emulator/api/selector.h"
#include "emulator/base/executor.h"
#include "emulator/base/rng.h"
#include "emulator/store/store.h"
#include "runtime/image.h"

namespace tfemu::manager {

struct WriteOptions {
  bool strict = false;       // what would be a warning is an error
  bool dry_run = false;      // everything but the write
  bool keep_status = false;  // the writer owns the status too (nodes)
};

struct Written {
  enum class Outcome { kCreated, kConfigured, kUnchanged };
  api::Object object;
  Outcome outcome = Outcome::kCreated;
  std::vector<FieldMessage> warnings;  // fields that are unknown or not honoured, in document order
};

// What becomes of the objects that the deleted one owns. (Numbered as in tfemu.proto.)
enum class Propagation {
  kBackground,  // they follow it
  kForeground,  // they go first: it stays, terminating, until they are gone
  kOrphan,      // they stay, without an owner
};

struct DeleteOptions {
  std::optional<int64_t> grace_period_seconds = {};  // pods; unset: the pod's own; 0: now
  Propagation propagation = Propagation::kBackground;
};

class Registry {
 public:
  // `images` may be null: then image references are not looked up. All must outlive the registry.
  Registry(Executor& executor, store::Store& store, Rng rng, const runtime::ImageCatalog* images);

  // As `kubectl create`: kAlreadyExists when it is there. metadata.namespace defaults to "default".
  Result<Written> Create(const api::Json& doc, const WriteOptions& options);
  // As `kubectl apply`: a three-way merge with the last applied configuration, which is kept in its
  // annotation.
  Result<Written> Apply(const api::Json& doc, const WriteOptions& options);

  Result<api::Object> Get(const api::ObjectKey& key) const;
  // Objects of one kind; ns "" means all namespaces.
  store::Listing List(const store::Query& query, const api::Selector& selector) const;

  // A merge patch of what the caller owns; retried on nothing, since the store is read in the same breath. An
  // object that is terminating and has lost its last finalizer goes.
  Result<api::Object> Patch(const api::ObjectKey& key, const std::string& uid, const std::string& pointer,
                            const api::Json& patch);

  // Pods that have a node end gracefully: deletionTimestamp is set, the node agent removes the object when
  // the pod has stopped. Objects with finalizers, and namespaces, wait for their controllers. Returns the
  // last state.
  Result<api::Object> Delete(const api::ObjectKey& key, const DeleteOptions& options);
  // Takes the object out of the store now.
  Result<void> Remove(const api::ObjectKey& key, const std::string& uid) { return store_.Delete(key, uid); }

  // Deployment, ReplicaSet, StatefulSet (spec.replicas); TFJob with a replica type such as "Worker".
  Result<api::Object> Scale(const api::ObjectKey& key, const std::string& replica_type, int replicas);

 private:
  // `write` is given the document in the served layout; what it finds is told at the paths of `original`.
  Result<Written> Modernized(const api::Json& original, const WriteOptions& options,
                             const std::function<Result<Written>(const api::Json&)>& write);
  Result<Written> CreateServed(const api::Json& doc, const WriteOptions& options);
  Result<Written> ApplyServed(const api::Json& doc, const WriteOptions& options);
  Result<std::vector<FieldMessage>> Check(const api::Json& doc, const api::Json* previous,
                                          const WriteOptions& options);
  Result<void> CheckPlace(const api::Kind& kind, const api::Json& doc) const;
  Result<void> CheckImages(const api::Json& doc) const;
  // Extended resources that no node has: a pod that asks for one waits for ever.
  void WarnOfResources(const api::Json& doc, std::vector<FieldMessage>& warnings) const;
  // The ResourceQuota admission: a new object that a quota of its namespace has no room for.
  Result<void> CheckQuotas(const api::Object& object) const;
  void Orphan(const std::string& owner_uid);
  Result<void> GiveClusterIp(api::Json& doc);
  void GiveDefaultClass(api::Json& claim) const;

  Executor& executor_;
  store::Store& store_;
  Rng rng_;
  const runtime::ImageCatalog* images_;
};

}  // namespace tfemu::manager
