// Where objects live: documents by key, a revision per write, and watches that see every write once, in
// order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emulator/api/object.h"

namespace tfemu::store {

using Revision = uint64_t;

// An empty kind means every kind; an empty ns every namespace.
struct Query {
  std::string kind, ns;
};

enum class WatchType { kAdded, kModified, kDeleted };

// For kDeleted, `object` is the last state, with the resourceVersion of the deletion.
struct WatchEvent {
  WatchType type;
  api::Object object;
};

using WatchSink = std::function<void(const WatchEvent&)>;
enum class WatchId : uint64_t {};

struct Listing {
  std::vector<api::Object> objects;  // by namespace, then name
  Revision revision = 0;
};

// Single-threaded. A write is visible to the very next read, so controllers need no "expectations".
// Sinks are called from the executor after the commit, never from inside a write.
class Store {
 public:
  virtual ~Store() = default;

  virtual Result<api::Object> Get(const api::ObjectKey& key) const = 0;
  virtual Listing List(const Query& query) const = 0;
  // Sets metadata.resourceVersion; all other metadata is the caller's. kAlreadyExists when the key is taken.
  virtual Result<api::Object> Create(const api::Object& object) = 0;
  // kConflict unless the object's resourceVersion is the stored one; an equal document is no write.
  virtual Result<api::Object> Update(const api::Object& object) = 0;
  virtual Result<void> Delete(const api::ObjectKey& key, const std::string& uid) = 0;  // uid "": any

  // Every write after revision `from` that matches, in order. kExpired when the history no longer reaches
  // back.
  virtual Result<WatchId> Watch(const Query& query, Revision from, WatchSink sink) = 0;
  virtual void Unwatch(WatchId id) = 0;  // after this call the sink is not called again
};

}  // namespace tfemu::store
