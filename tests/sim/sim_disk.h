// The store's journal on a disk that outlives its daemons, and may be full.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "emulator/store/memory_store.h"
#include "tests/sim/gate.h"
#include "tests/sim/observer.h"

namespace tfemu::sim {

class SimDisk final : public store::Journal {
 public:
  explicit SimDisk(Gate& gate) : gate_(gate) {}

  Result<void> Put(const api::Object& object, store::Revision revision) override;
  Result<void> Erase(const api::Object& last, store::Revision revision) override;
  // What a new daemon's store begins with.
  void LoadInto(store::MemoryStore& store) const;

  void set_full(bool full) { full_ = full; }
  bool full() const { return full_; }
  void set_observers(const std::vector<Observer*>& observers) { observers_ = observers; }
  const std::map<api::ObjectKey, api::Object>& objects() const { return objects_; }
  store::Revision revision() const { return revision_; }
  uint64_t refused() const { return refused_; }

 private:
  Result<void> Room();

  Gate& gate_;
  std::vector<Observer*> observers_;
  std::map<api::ObjectKey, api::Object> objects_;
  std::map<api::ObjectKey, store::Revision> created_;
  std::vector<api::Object> deleted_;
  store::Revision revision_ = 0;
  bool full_ = false;
  uint64_t refused_ = 0;
};

}  // namespace tfemu::sim
