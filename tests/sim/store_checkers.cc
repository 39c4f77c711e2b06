// Rules about the store: each write has its number, and a client that watches misses nothing.
#include <map>
#include <nlohmann/json.hpp>

#include "tests/sim/checker.h"
#include "tests/sim/sim_host.h"

namespace tfemu::sim {
namespace {

class Numbered final : public Checker {
 public:
  explicit Numbered(Complaints& complaints) : Checker("revisions count the writes", complaints) {}
  void OnWrite(const api::Object*, const api::Object& after, store::Revision revision) override {
    Check(after, revision);
  }
  void OnErase(const api::Object& last, store::Revision revision) override { Check(last, revision); }

 private:
  void Check(const api::Object& object, store::Revision revision) {
    if (revision != last_ + 1)
      Complain(std::to_string(revision) + " follows " + std::to_string(last_) + " (" +
               ToString(object.key()) + ")");
    if (object.resource_version() != revision)
      Complain(ToString(object.key()) + " was written as " + std::to_string(revision) + " and says " +
               std::to_string(object.resource_version()));
    last_ = revision;
  }
  store::Revision last_ = 0;
};

// A client resumes over the death of daemons, and has what the disk has whenever all is told.
class Watched final : public Checker {
 public:
  explicit Watched(Complaints& complaints)
      : Checker("a watch tells every write once, in order", complaints) {}
  void OnWrite(const api::Object*, const api::Object&, store::Revision revision) override {
    written_ = revision;
  }
  void OnErase(const api::Object&, store::Revision revision) override { written_ = revision; }
  void OnBoot() override { resumed_until_ = written_; }
  void OnWatchEvent(const store::WatchEvent& event) override {
    const api::Object& object = event.object;
    const store::Revision revision = object.resource_version();
    const std::string what = ToString(object.key()) + " at " + std::to_string(revision);
    if (revision <= seen_) Complain(what + " comes after " + std::to_string(seen_));
    if (revision > resumed_until_ + 1 && revision != seen_ + 1)
      Complain("what is between " + std::to_string(seen_) + " and " + what + " was not told");
    seen_ = revision;
    const bool known = view_.contains(object.key());
    // What came and went while nobody watched is told by its end alone.
    const bool missed = event.type == store::WatchType::kDeleted && revision <= resumed_until_;
    if (!(missed && !known) && known == (event.type == store::WatchType::kAdded))
      Complain(what + (known ? " was added twice" : " was changed before it was added"));
    if (event.type == store::WatchType::kDeleted) view_.erase(object.key());
    else view_.insert_or_assign(object.key(), revision);
  }
  void OnSettled(const SimHost& host) override {
    if (checked_ == host.disk().revision()) return;
    checked_ = host.disk().revision();
    const auto& objects = host.disk().objects();
    if (view_.size() != objects.size())
      Complain("a client knows " + std::to_string(view_.size()) + " objects of " +
               std::to_string(objects.size()));
    for (const auto& [key, object] : objects)
      if (const auto mine = view_.find(key); mine == view_.end() || mine->second != object.resource_version())
        Complain("a client does not know the latest " + ToString(key));
  }

 private:
  store::Revision written_ = 0, seen_ = 0, resumed_until_ = 0, checked_ = 0;
  std::map<api::ObjectKey, store::Revision> view_;
};

}  // namespace

Checkers StoreCheckers(Complaints& complaints) {
  Checkers list;
  list.push_back(std::make_unique<Numbered>(complaints));
  list.push_back(std::make_unique<Watched>(complaints));
  return list;
}

}  // namespace tfemu::sim
