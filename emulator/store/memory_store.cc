#include "emulator/store/memory_store.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "emulator/base/check.h"

namespace tfemu::store {
namespace {

bool Matches(const Query& query, const api::ObjectKey& key) {
  return (query.kind.empty() || query.kind == key.kind) && (query.ns.empty() || query.ns == key.ns);
}

api::Object Stamped(const api::Object& object, Revision revision) {
  return object.With("/metadata", api::Json::object({{"resourceVersion", std::to_string(revision)}}));
}

Error NotFound(const api::ObjectKey& key) { return {Reason::kNotFound, ToString(key) + " not found"}; }

}  // namespace

void MemoryStore::Load(std::vector<api::Object> objects, Revision revision, std::optional<PastWrites> past) {
  CHECK_THAT(objects_.empty() && revision_ == 0);
  std::vector<Record> records;
  for (auto& object : objects) {
    const api::ObjectKey key = object.key();
    if (past && object.resource_version() > past->since) {
      const auto created = past->created.find(key);
      records.push_back({object.resource_version(),
                         {WatchType::kModified, object},
                         created == past->created.end() ? 0 : created->second});
    }
    objects_.emplace(key, std::move(object));
  }
  revision_ = revision;
  compacted_ = past ? past->since : revision;
  if (!past) return;
  for (auto& object : past->deleted)
    records.push_back({object.resource_version(), {WatchType::kDeleted, std::move(object)}});
  std::ranges::sort(records, {}, &Record::revision);
  const size_t skipped = records.size() > kHistory ? records.size() - kHistory : 0;
  if (skipped > 0) compacted_ = records[skipped - 1].revision;
  history_.assign(std::make_move_iterator(records.begin() + static_cast<std::ptrdiff_t>(skipped)),
                  std::make_move_iterator(records.end()));
}

Result<api::Object> MemoryStore::Get(const api::ObjectKey& key) const {
  const auto it = objects_.find(key);
  if (it == objects_.end()) return NotFound(key);
  return it->second;
}

Listing MemoryStore::List(const Query& query) const {
  Listing listing{{}, revision_};
  // The map is ordered by kind, namespace, name: a kind is one stretch of it.
  const auto begin = query.kind.empty() ? objects_.begin() : objects_.lower_bound({query.kind, query.ns, ""});
  for (auto it = begin; it != objects_.end(); ++it) {
    if (!query.kind.empty() && it->first.kind != query.kind) break;
    if (Matches(query, it->first)) listing.objects.push_back(it->second);
  }
  return listing;
}

Result<api::Object> MemoryStore::Create(const api::Object& object) {
  if (objects_.contains(object.key()))
    return Error{Reason::kAlreadyExists, ToString(object.key()) + " already exists"};
  return Commit(WatchType::kAdded, object);
}

Result<api::Object> MemoryStore::Update(const api::Object& object) {
  const auto it = objects_.find(object.key());
  if (it == objects_.end()) return NotFound(object.key());
  if (it->second.resource_version() != object.resource_version() || it->second.uid() != object.uid())
    return Error{Reason::kConflict,
                 ToString(object.key()) + " has been modified; read it again and repeat the change"};
  if (it->second.doc() == object.doc()) return it->second;
  return Commit(WatchType::kModified, object);
}

Result<void> MemoryStore::Delete(const api::ObjectKey& key, const std::string& uid) {
  const auto it = objects_.find(key);
  if (it == objects_.end() || (!uid.empty() && it->second.uid() != uid)) return NotFound(key);
  const Revision revision = revision_ + 1;
  const api::Object last = Stamped(it->second, revision);
  if (journal_ != nullptr) RETURN_IF_ERROR(journal_->Erase(last, revision));
  revision_ = revision;
  objects_.erase(it);
  Publish({revision, {WatchType::kDeleted, last}});
  return {};
}

Result<api::Object> MemoryStore::Commit(WatchType type, const api::Object& object) {
  const Revision revision = revision_ + 1;
  const api::Object stored = Stamped(object, revision);
  if (journal_ != nullptr) RETURN_IF_ERROR(journal_->Put(stored, revision));
  revision_ = revision;
  objects_.insert_or_assign(stored.key(), stored);
  Publish({revision, {type, stored}});
  return stored;
}

void MemoryStore::Publish(Record record) {
  for (const auto& [id, watcher] : watchers_)
    if (Matches(watcher.query, record.event.object.key()))
      executor_.Post([this, id = id, event = record.event] { Deliver(id, event); });
  history_.push_back(std::move(record));
  if (history_.size() <= kHistory) return;
  compacted_ = history_.front().revision;
  history_.pop_front();
}

Result<WatchId> MemoryStore::Watch(const Query& query, Revision from, WatchSink sink) {
  if (from < compacted_)
    return Error{Reason::kExpired, "too old resource version: " + std::to_string(from) + " (" +
                                       std::to_string(compacted_) + ")"};
  const auto id = WatchId{next_watch_++};
  for (const Record& record : history_) {
    if (record.revision <= from || !Matches(query, record.event.object.key())) continue;
    WatchEvent event = record.event;
    if (record.created > from) event.type = WatchType::kAdded;
    executor_.Post([this, id, event = std::move(event)] { Deliver(id, event); });
  }
  watchers_.emplace(id, Watcher{query, std::move(sink)});
  return id;
}

void MemoryStore::Deliver(WatchId id, const WatchEvent& event) {
  const auto it = watchers_.find(id);
  if (it == watchers_.end()) return;
  const WatchSink sink = it->second.sink;  // the sink may unwatch itself
  sink(event);
}

}  // namespace tfemu::store
