// What must hold whatever happens, each rule on its own and without a line of the code it judges.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/observer.h"

namespace tfemu::sim {

class Complaints {
 public:
  void Add(const std::string& rule, const std::string& what) {
    if (list_.size() < kMost) list_.push_back(rule + ": " + what);
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  static constexpr size_t kMost = 20;
  std::vector<std::string> list_;
};

class Checker : public Observer {
 public:
  Checker(std::string rule, Complaints& complaints) : rule_(std::move(rule)), complaints_(complaints) {}
  const std::string& rule() const { return rule_; }

 protected:
  void Complain(const std::string& what) { complaints_.Add(rule_, what); }

 private:
  std::string rule_;
  Complaints& complaints_;
};

using Checkers = std::vector<std::unique_ptr<Checker>>;
// What holds of each pod, of nodes and their devices, of the store, and of TFJobs. A rule about groups of
// pods (all or none of a gang has its nodes) belongs to the pods' file.
Checkers PodCheckers(Complaints& complaints);
Checkers NodeCheckers(Complaints& complaints);
Checkers StoreCheckers(Complaints& complaints);
Checkers JobCheckers(Complaints& complaints);
Checkers AllCheckers(Complaints& complaints);

// Once everything is healed and had its time: no pod is stuck or forgotten, nothing outlives its owner, and
// what jobs say of their pods is so.
void CheckQuiet(const SimHost& host, Complaints& complaints);

}  // namespace tfemu::sim
