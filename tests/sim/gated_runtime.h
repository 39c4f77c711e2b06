// A daemon's connection to its supervisor, each message of which may be the daemon's last.
#pragma once

#include <utility>

#include "runtime/runtime.h"
#include "tests/sim/gate.h"

namespace tfemu::sim {

class GatedRuntime final : public runtime::Runtime {
 public:
  GatedRuntime(runtime::Runtime& supervisor, Gate& gate) : supervisor_(supervisor), gate_(gate) {}

  void StartPod(const runtime::PodLaunch& pod) override {
    Passing([&] { supervisor_.StartPod(pod); });
  }
  void StartContainer(const std::string& uid, const runtime::ContainerLaunch& container) override {
    Passing([&] { supervisor_.StartContainer(uid, container); });
  }
  void SignalContainer(const std::string& uid, const std::string& container, int signal) override {
    Passing([&] { supervisor_.SignalContainer(uid, container, signal); });
  }
  void StopPod(const std::string& uid) override {
    Passing([&] { supervisor_.StopPod(uid); });
  }
  void SetSink(runtime::PodEventSink sink) override {
    supervisor_.SetSink(
        [this, sink = std::move(sink)](const runtime::PodEvent& event) { Passing([&] { sink(event); }); });
  }
  runtime::Kept TakeOver() override {
    runtime::Kept kept;
    Passing([&] { kept = supervisor_.TakeOver(); });
    return kept;
  }
  void Acknowledge(uint64_t sequence) override {
    Passing([&] { supervisor_.Acknowledge(sequence); });
  }
  void UpdateFiles(const std::string& uid, const std::string& volume,
                   const std::vector<runtime::File>& files) override {
    Passing([&] { supervisor_.UpdateFiles(uid, volume, files); });
  }
  void DiscardFolder(const std::string& folder, const std::string& aside) override {
    Passing([&] { supervisor_.DiscardFolder(folder, aside); });
  }

 private:
  template <class Effect>
  void Passing(const Effect& effect) {
    gate_.Pass();
    effect();
    gate_.Pass();
  }

  runtime::Runtime& supervisor_;
  Gate& gate_;
};

}  // namespace tfemu::sim
