#include "scheduler/gpus.h"

#include <algorithm>

namespace tfemu::scheduler {
namespace {

using api::Gpu;
using api::GpuClaim;
using api::GpuShare;
using api::GpuSharing;
using Candidates = std::vector<const Gpu*>;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr size_t kMostTried = 16;  // 12,870 ways to choose 8 of 16; beyond, a greedy choice

const GpuUse& UseOf(const GpuUses& uses, const std::string& uuid) {
  static const GpuUse kNone;
  const auto it = uses.find(uuid);
  return it == uses.end() ? kNone : it->second;
}

bool InMigMode(const api::NodeGpus& gpus, const Gpu& gpu) {
  return std::ranges::any_of(gpus.devices, [&](const Gpu& other) { return other.parent == gpu.uuid; });
}

int64_t Nearness(const Gpu& a, const Gpu& b) {
  if (const auto links = a.links.find(b.index); links != a.links.end()) return 100 * links->second;
  return a.numa == b.numa ? 10 : 1;
}

// The bytes that a claim means on this device.
int64_t MemoryOn(const Gpu& gpu, const GpuClaim& claim) {
  if (claim.memory_percent > 0) return gpu.memory_bytes / 100 * claim.memory_percent;
  return claim.memory_bytes > 0 ? claim.memory_bytes : gpu.memory_bytes;
}

int64_t Free(const Gpu& gpu, const GpuUse& use) {
  return use.whole ? 0 : gpu.memory_bytes - use.memory_bytes;
}

bool Fits(const api::NodeGpus& gpus, const Gpu& gpu, const GpuUse& use, const GpuClaim& claim) {
  if (!gpu.health.empty()) return false;
  switch (claim.type) {
    case GpuClaim::Type::kMig: return gpu.mig_profile == claim.profile && use.holders == 0;
    case GpuClaim::Type::kGpu:
      if (!gpu.mig_profile.empty() || InMigMode(gpus, gpu)) return false;
      if (gpus.sharing.mode == GpuSharing::Mode::kTimeSlicing) return use.holders < gpus.sharing.replicas;
      return use.holders == 0;
    case GpuClaim::Type::kMemory: {
      if (gpus.sharing.mode != GpuSharing::Mode::kMemory) return false;
      if (!gpu.mig_profile.empty() || InMigMode(gpus, gpu)) return false;
      return MemoryOn(gpu, claim) <= Free(gpu, use) && use.cores + claim.cores <= 100;
    }
  }
  return false;
}

// The best connected subset; among equals the one that leaves the rest best connected, then the first.
Candidates BestSet(const Candidates& free, size_t count) {
  std::vector<bool> take(free.size(), false), best;
  std::fill(take.begin(), take.begin() + static_cast<std::ptrdiff_t>(count), true);
  std::pair<int64_t, int64_t> best_score{-1, -1};
  do {
    Candidates in, out;
    for (size_t i = 0; i < free.size(); ++i) (take[i] ? in : out).push_back(free[i]);
    const std::pair score{LinkScore(in), LinkScore(out)};
    if (score > best_score) {
      best_score = score;
      best = take;
    }
  } while (std::prev_permutation(take.begin(), take.end()));
  Candidates chosen;
  for (size_t i = 0; i < free.size(); ++i)
    if (best[i]) chosen.push_back(free[i]);
  return chosen;
}

Candidates GreedySet(Candidates free, size_t count) {
  Candidates chosen;
  while (chosen.size() < count) {
    const auto gain = [&](const Gpu* gpu) {
      int64_t sum = 0;
      for (const Gpu* other : chosen) sum += Nearness(*gpu, *other);
      return -sum;
    };
    const auto next = std::ranges::min_element(free, {}, gain);
    chosen.push_back(*next);
    free.erase(next);
  }
  return chosen;
}

// Devices to share are filled one after another, so that whole ones stay free; slices go where fewest are.
Candidates InOrder(const GpuUses& uses, Candidates free, const GpuClaim& claim, size_t count) {
  if (claim.type == GpuClaim::Type::kMemory)
    std::ranges::stable_sort(
        free, {}, [&](const Gpu* gpu) { return Free(*gpu, UseOf(uses, gpu->uuid)) - MemoryOn(*gpu, claim); });
  else std::ranges::stable_sort(free, {}, [&](const Gpu* gpu) { return UseOf(uses, gpu->uuid).holders; });
  free.resize(count);
  return free;
}

// `count` of `free`, which has at least as many.
Candidates Pick(const api::NodeGpus& gpus, const GpuUses& uses, const GpuClaim& claim, Candidates free,
                size_t count) {
  if (claim.type != GpuClaim::Type::kGpu || gpus.sharing.mode == GpuSharing::Mode::kTimeSlicing)
    return InOrder(uses, std::move(free), claim, count);
  return free.size() <= kMostTried ? BestSet(free, count) : GreedySet(std::move(free), count);
}

// Those of `first` before any other.
Candidates Choose(const api::NodeGpus& gpus, const GpuUses& uses, const GpuClaim& claim,
                  const std::set<std::string>& first) {
  Candidates preferred, others;
  for (const Gpu& gpu : gpus.devices)
    if (Fits(gpus, gpu, UseOf(uses, gpu.uuid), claim))
      (first.contains(gpu.uuid) ? preferred : others).push_back(&gpu);
  const auto count = static_cast<size_t>(std::max(claim.count, 0));
  if (preferred.size() + others.size() < count) return {};
  if (preferred.size() >= count) return Pick(gpus, uses, claim, std::move(preferred), count);
  for (const Gpu* gpu : Pick(gpus, uses, claim, std::move(others), count - preferred.size()))
    preferred.push_back(gpu);
  return preferred;
}

void Take(GpuUse& use, const api::NodeGpus& gpus, const GpuShare& share) {
  const Gpu* gpu = gpus.Find(share.uuid);
  ++use.holders;
  use.memory_bytes += share.memory_bytes > 0 ? share.memory_bytes : (gpu ? gpu->memory_bytes : 0);
  use.cores += share.cores;
  use.whole = use.whole || share.memory_bytes == 0;
}

GpuUse Larger(const GpuUse& a, const GpuUse& b) {
  return {std::max(a.holders, b.holders), std::max(a.memory_bytes, b.memory_bytes),
          std::max(a.cores, b.cores), a.whole || b.whole};
}

std::string Problem(const api::NodeGpus& gpus, const GpuClaim& claim) {
  switch (claim.type) {
    case GpuClaim::Type::kMig: return "Insufficient nvidia.com/mig-" + claim.profile;
    case GpuClaim::Type::kGpu: return "Insufficient nvidia.com/gpu";
    case GpuClaim::Type::kMemory: break;
  }
  if (gpus.sharing.mode != GpuSharing::Mode::kMemory)
    return "node(s) didn't declare that GPUs may be shared by memory";
  return "Insufficient GPU memory in one device";  // gpushare's scheduler extender says it so
}

}  // namespace

int64_t LinkScore(const Candidates& gpus) {
  int64_t score = 0;
  for (size_t i = 0; i < gpus.size(); ++i)
    for (size_t j = i + 1; j < gpus.size(); ++j) score += Nearness(*gpus[i], *gpus[j]);
  return score;
}

std::string SharedDevice(const api::GpuShares& a, const api::GpuShares& b) {
  for (const auto& [mine, shares] : a)
    for (const GpuShare& share : shares)
      for (const auto& [theirs, others] : b)
        if (std::ranges::find(others, share.uuid, &GpuShare::uuid) != others.end()) return share.uuid;
  return "";
}

void Assume(GpuUses& uses, const api::NodeGpus& gpus, const api::GpuShares& shares,
            const std::set<std::string>& init) {
  GpuUses most;
  for (const auto& [container, list] : shares)
    if (!init.contains(container))
      for (const GpuShare& share : list) Take(most[share.uuid], gpus, share);
  for (const auto& [container, list] : shares) {
    if (!init.contains(container)) continue;
    GpuUses alone;
    for (const GpuShare& share : list) Take(alone[share.uuid], gpus, share);
    for (const auto& [uuid, use] : alone) most[uuid] = Larger(most[uuid], use);
  }
  for (const auto& [uuid, use] : most) {
    GpuUse& all = uses[uuid];
    all = {all.holders + use.holders, all.memory_bytes + use.memory_bytes, all.cores + use.cores,
           all.whole || use.whole};
  }
}

GpuChoice ChooseGpus(const api::NodeGpus& gpus, const GpuUses& uses, const std::vector<GpuClaim>& claims) {
  GpuChoice choice;
  std::vector<GpuClaim> ordered = claims;
  std::ranges::stable_sort(ordered, {}, &GpuClaim::init);
  std::set<std::string> ours;
  for (const GpuClaim& claim : ordered) {
    // An init container uses again what the others will have; only itself is beside it.
    GpuUses now = uses;
    for (const auto& [container, list] : choice.shares)
      if (!claim.init || container == claim.container) Assume(now, gpus, {{container, list}});
    const Candidates chosen = Choose(gpus, now, claim, claim.init ? ours : std::set<std::string>());
    if (chosen.size() != static_cast<size_t>(std::max(claim.count, 0))) return {{}, Problem(gpus, claim)};
    for (const Gpu* gpu : chosen) {
      const bool part = claim.type == GpuClaim::Type::kMemory && MemoryOn(*gpu, claim) < gpu->memory_bytes;
      // Whole MiB: that is what drivers and limits count in.
      const int64_t memory = part ? MemoryOn(*gpu, claim) / kMiB * kMiB : 0;
      choice.shares[claim.container].push_back({gpu->uuid, memory, claim.cores});
      ours.insert(gpu->uuid);
    }
  }
  return choice;
}

}  // namespace tfemu::scheduler
