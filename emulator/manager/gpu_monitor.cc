#include "emulator/manager/gpu_monitor.h"

#include <algorithm>

namespace tfemu::manager {
namespace {

constexpr Duration kPeriod = std::chrono::seconds(1);

}  // namespace

Result<void> GpuMonitor::Attach(const api::Pod& pod, const std::string& container, const api::NodeGpus& gpus,
                                const std::string& program) {
  const api::GpuShares all = api::GpuSharesOf(pod.meta);
  const auto mine = all.find(container);
  if (mine == all.end() || files_ == nullptr) return {};
  Kept& kept = kept_[{pod.meta.uid, container}];
  kept = {{pod.meta.uid, pod.meta.ns, pod.meta.name, container, pod.spec.node_name, program, mine->second},
          gpus,
          ""};
  RETURN_IF_ERROR(files_->Make(runtime::GpuFoldersOf(state_folder_, pod.meta.uid, container)));
  Show(pod.spec.node_name);
  Arm();
  return {};
}

void GpuMonitor::OnRunning(const std::string& pod_uid, const std::string& container, bool running) {
  const auto it = kept_.find({pod_uid, container});
  if (it == kept_.end()) return;
  it->second.holder.running = running;
  Show(it->second.holder.node);
}

void GpuMonitor::Remove(const std::string& pod_uid) {
  std::string node;
  const auto erased = std::erase_if(kept_, [&](const auto& entry) {
    if (entry.first.first != pod_uid) return false;
    node = entry.second.holder.node;
    return true;
  });
  if (erased == 0) return;
  files_->Remove(state_folder_, pod_uid);
  Show(node);
}

std::vector<const GpuHolder*> GpuMonitor::HoldersOn(const std::string& node) const {
  std::vector<const GpuHolder*> holders;
  for (const auto& [key, kept] : kept_)
    if (kept.holder.node == node) holders.push_back(&kept.holder);
  return holders;
}

GpuUsage GpuMonitor::Usage(const std::string& node, const api::Gpu& gpu) const {
  return UsageOf(node, gpu, HoldersOn(node));
}

std::vector<GpuUsage> GpuMonitor::UsageBesides(const std::vector<api::Node>& nodes) const {
  std::vector<GpuUsage> usages;
  for (const auto& [key, kept] : kept_) {
    const auto node = std::ranges::find(nodes, kept.holder.node, [](const auto& n) { return n.meta.name; });
    for (const api::GpuShare& share : kept.holder.shares) {
      const api::Gpu* gpu = kept.gpus.Find(share.uuid);
      if (gpu == nullptr || (node != nodes.end() && node->gpus.Find(share.uuid) != nullptr)) continue;
      usages.push_back(UsageOf(kept.holder.node, *gpu, {&kept.holder}));
    }
  }
  return usages;
}

void GpuMonitor::Show(const std::string& node) {
  const auto holders = HoldersOn(node);
  for (auto& [key, kept] : kept_) {
    if (kept.holder.node != node) continue;
    std::string text = DevicesFile(kept.gpus, kept.holder, holders);
    if (text == kept.shown) continue;
    // A full disk leaves the last figures standing; they are right again with the next change.
    const auto shown = files_->Show(runtime::GpuFoldersOf(state_folder_, key.first, key.second), text);
    if (shown.ok()) kept.shown = std::move(text);
  }
}

void GpuMonitor::Arm() {
  if (armed_ || kept_.empty()) return;
  armed_ = true;
  executor_.PostAt(executor_.Now() + kPeriod, [this, alive = alive_] {
    if (!*alive) return;
    armed_ = false;
    Sample();
    Arm();
  });
}

void GpuMonitor::Sample() {
  std::vector<std::string> changed;
  for (auto& [key, kept] : kept_) {
    GpuHolder& holder = kept.holder;
    if (!holder.running) continue;
    const auto reports = files_->Reports(runtime::GpuFoldersOf(state_folder_, key.first, key.second));
    if (reports.empty() && holder.reports.empty()) continue;
    holder.loads = LoadsFrom(holder, reports, executor_.Now());
    holder.reports = reports;
    holder.reported_at = executor_.Now();
    if (std::ranges::find(changed, holder.node) == changed.end()) changed.push_back(holder.node);
  }
  for (const std::string& node : changed) Show(node);
}

}  // namespace tfemu::manager
