// A Store in memory, with a bounded history so that watches can resume. The durable store is this one plus a
// journal.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "emulator/base/executor.h"
#include "emulator/store/store.h"

namespace tfemu::store {

// Told of each write before it is visible; an error refuses the write and nothing has happened.
class Journal {
 public:
  virtual ~Journal() = default;
  virtual Result<void> Put(const api::Object& object, Revision revision) = 0;
  // `last` is the object as its deletion is told: with the deletion's revision.
  virtual Result<void> Erase(const api::Object& last, Revision revision) = 0;
};

// What a journal knows of writes before this run. Of each object that is still there only the last write is
// known, and when it was made; so a resumed watch sees every object's latest state, but not those between.
struct PastWrites {
  Revision since = 0;                          // everything after this revision is known
  std::map<api::ObjectKey, Revision> created;  // of objects that were made after `since`
  std::vector<api::Object> deleted;            // their last states, oldest first
};

class MemoryStore final : public Store {
 public:
  static constexpr size_t kHistory = 2000;  // writes a watch can look back; each holds a document

  // `journal` may be null. Both must outlive the store.
  explicit MemoryStore(Executor& executor, Journal* journal = nullptr)
      : executor_(executor), journal_(journal) {}

  // Fills an empty store with what a journal kept.
  void Load(std::vector<api::Object> objects, Revision revision,
            std::optional<PastWrites> past = std::nullopt);

  Result<api::Object> Get(const api::ObjectKey& key) const override;
  Listing List(const Query& query) const override;
  Result<api::Object> Create(const api::Object& object) override;
  Result<api::Object> Update(const api::Object& object) override;
  Result<void> Delete(const api::ObjectKey& key, const std::string& uid) override;
  Result<WatchId> Watch(const Query& query, Revision from, WatchSink sink) override;
  void Unwatch(WatchId id) override { watchers_.erase(id); }

 private:
  struct Watcher {
    Query query;
    WatchSink sink;
  };
  struct Record {
    Revision revision;
    WatchEvent event;
    Revision created = 0;  // of a past write: a watch from before it sees the object come
  };

  Result<api::Object> Commit(WatchType type, const api::Object& object);
  void Publish(Record record);
  void Deliver(WatchId id, const WatchEvent& event);

  Executor& executor_;
  Journal* journal_;
  Revision revision_ = 0;
  std::map<api::ObjectKey, api::Object> objects_;
  std::deque<Record> history_;
  Revision compacted_ = 0;  // the newest revision that history_ no longer holds
  std::map<WatchId, Watcher> watchers_;
  uint64_t next_watch_ = 1;
};

}  // namespace tfemu::store
