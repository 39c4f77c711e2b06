// What a run came to, in words that do not depend on when or how often its daemon died.
#pragma once

#include <map>
#include <string>

#include "tests/sim/observer.h"
#include "tests/sim/sim_host.h"

namespace tfemu::sim {

struct EndState {
  std::string objects;                // a line each: what users would look at
  std::map<std::string, int> starts;  // how often each program was started, by pod and container
  std::map<std::string, int> events;  // how often each was told
};

// Has to watch the run from its beginning, since pods go.
class EndStateWriter final : public Observer {
 public:
  void OnWrite(const api::Object* before, const api::Object& after, store::Revision revision) override;
  void OnPodEvent(const runtime::PodEvent& event) override;
  EndState Write(const SimHost& host) const;

 private:
  std::string Plain(std::string text) const;

  std::map<std::string, std::string> pods_;   // name without what was drawn, by uid
  std::map<std::string, std::string> drawn_;  // the same, by name
  std::map<std::string, int> starts_;
};

}  // namespace tfemu::sim
