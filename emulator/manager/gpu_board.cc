#include "emulator/manager/gpu_board.h"

#include <algorithm>

#include "emulator/api/gpu_models.h"
#include "runtime/gpu/contract.h"

namespace tfemu::manager {
namespace {

using api::Gpu;
using api::GpuShare;

constexpr int kIdleCelsius = 30;  // shown for a virtual GPU that nobody uses; 0.4 degrees a percent more

int64_t Bytes(const Gpu& gpu, const GpuShare& share) {
  return share.memory_bytes > 0 ? share.memory_bytes : gpu.memory_bytes;
}

GpuHolder::Load LoadOf(const GpuHolder& holder, const Gpu& gpu) {
  for (size_t i = 0; i < holder.shares.size(); ++i) {
    if (holder.shares[i].uuid != gpu.uuid) continue;
    if (i < holder.loads.size() && holder.loads[i].reported) return holder.loads[i];
    const int cores = holder.shares[i].cores;
    return {false, cores > 0 ? cores : 100, Bytes(gpu, holder.shares[i])};
  }
  return {false, 0, 0};
}

std::string ProductName(const Gpu& gpu) {
  const auto model = api::FindGpuModel(gpu.model);
  return gpu.is_virtual() && model.ok() ? std::string(model.value()->product) : gpu.model;
}

class Line {
 public:
  explicit Line(const char* kind) : text_(kind) {}
  Line& Add(const char* key, const std::string& value) {
    if (!value.empty()) text_ += std::string("\t") + key + "=" + value;
    return *this;
  }
  Line& Add(const char* key, int64_t value) { return Add(key, std::to_string(value)); }
  std::string Take() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
};

// Only links between devices that the viewer sees.
std::string Links(const Gpu& gpu, const std::vector<const Gpu*>& view) {
  std::string text;
  for (size_t i = 0; i < view.size(); ++i) {
    const auto link = gpu.links.find(view[i]->index);
    if (link == gpu.links.end() || view[i] == &gpu) continue;
    text += (text.empty() ? "" : ",") + std::to_string(i) + ":" + std::to_string(link->second);
  }
  return text;
}

int64_t ViewBytes(const Gpu& gpu, const GpuHolder& viewer) {
  for (const GpuShare& share : viewer.shares)
    if (share.uuid == gpu.uuid) return Bytes(gpu, share);
  return gpu.memory_bytes;
}

// A viewer of a share sees its own memory only; one of the whole device, or of a time-slice, everybody's.
GpuUsage ViewedUsage(const Gpu& gpu, const GpuHolder& viewer, const std::vector<const GpuHolder*>& holders) {
  if (ViewBytes(gpu, viewer) < gpu.memory_bytes) return UsageOf(viewer.node, gpu, {&viewer});
  return UsageOf(viewer.node, gpu, holders);
}

std::string DeviceLine(const Gpu& gpu, size_t index, const GpuUsage& usage, const GpuHolder& viewer,
                       const std::vector<const Gpu*>& view) {
  Line line("gpu");
  line.Add("index", static_cast<int64_t>(index)).Add("uuid", gpu.uuid).Add("name", ProductName(gpu));
  line.Add("memory_bytes", ViewBytes(gpu, viewer)).Add("used_bytes", usage.used_bytes);
  line.Add("utilization", usage.utilization)
      .Add("pci", gpu.pci)
      .Add("driver", gpu.driver)
      .Add("cuda", gpu.cuda);
  line.Add("sm", gpu.compute_capability).Add("numa", gpu.numa).Add("links", Links(gpu, view));
  const int64_t limit = gpu.power_limit_watts;
  line.Add("power_limit_w", limit).Add("power_w", limit / 10 + limit * 8 * usage.utilization / 1000);
  line.Add("temperature_c", kIdleCelsius + usage.utilization * 2 / 5);
  line.Add("kind", gpu.is_virtual() ? "virtual" : "real")
      .Add("health", gpu.health.empty() ? "ok" : gpu.health);
  if (!gpu.mig_profile.empty())
    line.Add("parent", gpu.parent)
        .Add("gi", gpu.gpu_instance)
        .Add("ci", gpu.compute_instance)
        .Add("profile", gpu.mig_profile);
  return line.Take();
}

std::string ProcessLines(const Gpu& gpu, size_t index, const GpuHolder& viewer) {
  if (!viewer.running) return "";
  std::string text;
  const auto add = [&](int pid, int64_t bytes) {
    Line line("process");
    line.Add("index", static_cast<int64_t>(index)).Add("pid", pid).Add("name", viewer.program);
    text += line.Add("used_bytes", bytes).Take();
  };
  const auto share = std::ranges::find(viewer.shares, gpu.uuid, &GpuShare::uuid);
  const auto position = static_cast<int>(share - viewer.shares.begin());
  for (const auto& report : viewer.reports)
    if (report.index == position) add(report.pid, report.used_bytes);
  if (text.empty()) add(1, LoadOf(viewer, gpu).used_bytes);
  return text;
}

}  // namespace

std::vector<GpuHolder::Load> LoadsFrom(const GpuHolder& holder,
                                       const std::vector<runtime::GpuReport>& reports, Instant now) {
  std::vector<GpuHolder::Load> loads(holder.shares.size());
  const int64_t wall = (now - holder.reported_at).count();
  for (const auto& report : reports) {
    if (report.index < 0 || static_cast<size_t>(report.index) >= loads.size()) continue;
    GpuHolder::Load& load = loads[static_cast<size_t>(report.index)];
    load.reported = true;
    load.used_bytes += report.used_bytes;
    for (const auto& before : holder.reports) {
      if (before.pid != report.pid || before.index != report.index || wall <= 0) continue;
      const int64_t busy = std::max<int64_t>(0, report.busy_ns - before.busy_ns);
      load.utilization = static_cast<int>(std::min<int64_t>(100, load.utilization + busy * 100 / wall));
    }
  }
  return loads;
}

GpuUsage UsageOf(const std::string& node, const Gpu& gpu, const std::vector<const GpuHolder*>& holders) {
  GpuUsage usage{node, gpu, 0, 0, {}};
  for (const GpuHolder* holder : holders) {
    const bool holds =
        std::ranges::any_of(holder->shares, [&](const GpuShare& share) { return share.uuid == gpu.uuid; });
    if (!holds || !holder->running) continue;
    const GpuHolder::Load load = LoadOf(*holder, gpu);
    usage.utilization = std::min(100, usage.utilization + load.utilization);
    usage.used_bytes = std::min(gpu.memory_bytes, usage.used_bytes + load.used_bytes);
    usage.holders.push_back(holder);
  }
  return usage;
}

std::string DevicesFile(const api::NodeGpus& gpus, const GpuHolder& viewer,
                        const std::vector<const GpuHolder*>& holders) {
  std::vector<const Gpu*> view;
  for (const GpuShare& share : viewer.shares) {
    const Gpu* gpu = gpus.Find(share.uuid);
    if (gpu == nullptr) continue;
    // The GPU that an instance is part of is shown before it, as the real tools do.
    if (const Gpu* parent = gpus.Find(gpu->parent); parent && std::ranges::find(view, parent) == view.end())
      view.push_back(parent);
    view.push_back(gpu);
  }
  std::string text = TFEMU_GPU_MAGIC "\n";
  for (size_t i = 0; i < view.size(); ++i) {
    std::string line = DeviceLine(*view[i], i, ViewedUsage(*view[i], viewer, holders), viewer, view);
    const bool split = std::ranges::any_of(view, [&](const Gpu* g) { return g->parent == view[i]->uuid; });
    if (split) line.insert(line.size() - 1, "\tmig=enabled");
    text += line;
  }
  for (size_t i = 0; i < view.size(); ++i)
    if (std::ranges::find(viewer.shares, view[i]->uuid, &GpuShare::uuid) != viewer.shares.end())
      text += ProcessLines(*view[i], i, viewer);
  return text;
}

}  // namespace tfemu::manager
