#include "tests/sim/sim_disk.h"

#include <nlohmann/json.hpp>

namespace tfemu::sim {

Result<void> SimDisk::Room() {
  if (!full_) return {};
  ++refused_;
  return Error{Reason::kUnavailable, "the disk is full"};
}

Result<void> SimDisk::Put(const api::Object& object, store::Revision revision) {
  gate_.Pass();
  RETURN_IF_ERROR(Room());
  const auto known = objects_.find(object.key());
  for (Observer* observer : observers_)
    observer->OnWrite(known == objects_.end() ? nullptr : &known->second, object, revision);
  if (known == objects_.end()) created_[object.key()] = revision;
  objects_.insert_or_assign(object.key(), object);
  revision_ = revision;
  gate_.Pass();
  return {};
}

Result<void> SimDisk::Erase(const api::Object& last, store::Revision revision) {
  gate_.Pass();
  RETURN_IF_ERROR(Room());
  for (Observer* observer : observers_) observer->OnErase(last, revision);
  objects_.erase(last.key());
  created_.erase(last.key());
  deleted_.push_back(last);
  revision_ = revision;
  gate_.Pass();
  return {};
}

void SimDisk::LoadInto(store::MemoryStore& store) const {
  if (revision_ == 0) return;
  std::vector<api::Object> objects;
  for (const auto& [key, object] : objects_) objects.push_back(object);
  store.Load(std::move(objects), revision_, store::PastWrites{0, created_, deleted_});
}

}  // namespace tfemu::sim
