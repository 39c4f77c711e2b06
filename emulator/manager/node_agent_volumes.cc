// Volumes of running pods: what they hold, what happens when that is too much, and files that change.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "emulator/api/volume.h"
#include "emulator/base/strings.h"
#include "emulator/manager/lister.h"
#include "emulator/manager/node_agent.h"

namespace tfemu::manager {
namespace {

using api::PodVolume;
using controllers::PodRun;

constexpr uint64_t kEmptier = 10;  // a volume counts as full until a tenth of it is free again

bool Mentions(const PodVolume& volume, const api::ObjectKey& object) {
  const auto type =
      object.kind == "Secret" ? api::FileSource::Type::kSecret : api::FileSource::Type::kConfigMap;
  return std::ranges::any_of(volume.sources, [&](const api::FileSource& source) {
    return source.type == type && source.name == object.name;
  });
}

// Each note is a write that others watch: a hundredth of the size is the least that is one.
bool WorthNoting(const api::Object& claim, const runtime::PodEvent& event) {
  const auto annotations = api::DecodeMeta(claim).annotations;
  const auto bytes = [&](const char* name) -> uint64_t {
    const auto it = annotations.find(name);
    return it == annotations.end() ? 0 : static_cast<uint64_t>(ParseInt(it->second).value_or(0));
  };
  const uint64_t noted = bytes(api::kUsedBytes), used = event.used_bytes;
  const bool ends = (used >= event.size_bytes) != (noted >= event.size_bytes);
  const uint64_t change = used > noted ? used - noted : noted - used;
  return ends || bytes(api::kQuotaBytes) != event.size_bytes || change >= event.size_bytes / 100;
}

}  // namespace

void NodeAgent::OnVolumeUsage(const api::Pod& pod, Entry& entry, const runtime::PodEvent& event) {
  const auto volume = std::ranges::find(pod.spec.volumes, event.volume, &PodVolume::name);
  if (volume == pod.spec.volumes.end() || event.size_bytes == 0) return;
  if (volume->type == PodVolume::Type::kEmptyDir) {
    if (event.used_bytes <= event.size_bytes || pod.finished() || pod.meta.deletion_timestamp) return;
    return Evict(pod, "Usage of EmptyDir volume \"" + event.volume + "\" exceeds the limit \"" +
                          volume->size_limit_text + "\". ");
  }
  const bool full = event.used_bytes >= event.size_bytes;
  if (full && entry.full.insert(event.volume).second)
    Say(pod, true, "VolumeQuotaReached",
        "The quota of volume \"" + event.volume + "\" (" +
            api::FormatQuantity({static_cast<int64_t>(event.size_bytes) * 1000}, true) +
            ") is reached: writes fail with ENOSPC (No space left on device)");
  if (event.used_bytes < event.size_bytes - event.size_bytes / kEmptier) entry.full.erase(event.volume);
  NoteUsage(pod, *volume, event);
}

// For `describe`: kept on the claim and its volume.
void NodeAgent::NoteUsage(const api::Pod& pod, const PodVolume& volume, const runtime::PodEvent& event) {
  if (volume.type != PodVolume::Type::kClaim) return;
  const auto claim = deps_.store.Get({"PersistentVolumeClaim", pod.meta.ns, volume.claim_name});
  if (!claim.ok() || !WorthNoting(claim.value(), event)) return;
  const auto bound =
      deps_.store.Get({"PersistentVolume", "", api::DecodePersistentVolumeClaim(claim.value()).volume_name});
  const api::Json patch = api::UsagePatch(event.used_bytes, event.size_bytes);
  (void)deps_.registry.Patch(claim.value().key(), claim.value().uid(), "", patch).ok();  // gone is as good
  if (bound.ok()) (void)deps_.registry.Patch(bound.value().key(), bound.value().uid(), "", patch).ok();
}

// Without grace, as the kubelet does for local storage.
void NodeAgent::Evict(const api::Pod& pod, const std::string& message) {
  const auto failed =
      deps_.registry.Patch(pod.key(), pod.meta.uid, "/status", api::FailedPatch("Evicted", message));
  if (!failed.ok()) return;
  Say(pod, true, "Evicted", message);
  queue_.Add(pod.key());
}

void NodeAgent::RefreshFiles(const api::ObjectKey& changed) {
  if (changed.kind == "PersistentVolumeClaim") return;
  for (auto& [uid, entry] : entries_) {
    if (entry.key.ns != changed.ns) continue;
    const auto object = deps_.store.Get(entry.key);
    if (!object.ok() || object.value().uid() != uid) continue;
    UpdateFiles(object.value().As(api::DecodePod), entry,
                [&](const PodVolume& volume) { return Mentions(volume, changed); });
  }
}

void NodeAgent::UpdateFiles(const api::Pod& pod, const Entry& entry,
                            const std::function<bool(const PodVolume&)>& which) {
  if (entry.run.sandbox != PodRun::Sandbox::kReady) return;
  for (const PodVolume& volume : pod.spec.volumes) {
    if (volume.type != PodVolume::Type::kFiles || !which(volume)) continue;
    const auto files = launcher_.Files(Context(pod, entry), volume);
    if (files.ok()) deps_.runtime.UpdateFiles(pod.meta.uid, volume.name, files.value());
  }
}

}  // namespace tfemu::manager
