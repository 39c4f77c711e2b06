// The one door to the store for users' writes: decoding, defaults, validation, uids, graceful deletion.
// Every front end (gRPC, later REST) and every controller's create goes through it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "emulator/api/object.h"
#include "emulator/api/selector.h"
#include "emulator/base/executor.h"
#include "emulator/base/rng.h"
#include "emulator/store/store.h"
#include "runtime/image.h"

namespace tfemu::manager {

struct WriteOptions {
  bool strict = false;   // what would be a warning is an error
  bool dry_run = false;  // everything but the write
};

struct Written {
  enum class Outcome { kCreated, kConfigured, kUnchanged };
  api::Object object;
  Outcome outcome = Outcome::kCreated;
  std::vector<FieldMessage> warnings;  // fields that are unknown or not honoured, in document order
};

struct DeleteOptions {
  std::optional<int64_t> grace_period_seconds;  // pods; unset: the pod's own; 0: now
  bool orphan = false;                          // dependents stay
};

class Registry {
 public:
  // `images` may be null: then image references are not looked up. All must outlive the registry.
  Registry(Executor& executor, store::Store& store, Rng rng, const runtime::ImageCatalog* images);

  // As `kubectl create`: kAlreadyExists when it is there. metadata.namespace defaults to "default".
  Result<Written> Create(const api::Json& doc, const WriteOptions& options);
  // As `kubectl apply`: a three-way merge with the last applied configuration, which is kept in its annotation.
  Result<Written> Apply(const api::Json& doc, const WriteOptions& options);

  Result<api::Object> Get(const api::ObjectKey& key) const;
  // Objects of one kind; ns "" means all namespaces.
  store::Listing List(const store::Query& query, const api::Selector& selector) const;

  // Pods end gracefully: deletionTimestamp is set, the object goes when the node agent has stopped it.
  Result<api::Object> Delete(const api::ObjectKey& key, const DeleteOptions& options);
  // Deployment, ReplicaSet (spec.replicas); TFJob with a replica type such as "Worker".
  Result<api::Object> Scale(const api::ObjectKey& key, const std::string& replica_type, int replicas);

 private:
  Result<Written> Admit(api::Json doc, const WriteOptions& options, const api::Object* previous);

  Executor& executor_;
  store::Store& store_;
  Rng rng_;
  const runtime::ImageCatalog* images_;
};

}  // namespace tfemu::manager
