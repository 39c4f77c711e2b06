#include "runtime/supervisor/volume_usage.h"

#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/supervisor/quota_disks.h"

namespace tfemu::supervisor {
namespace {

constexpr Duration kPeriod = std::chrono::seconds(1);
constexpr int kShareOfTime = 20;  // counting takes at most one twentieth of it

uint64_t BytesBelow(const std::string& path) {
  std::string start = path;
  char* const roots[] = {start.data(), nullptr};
  const std::unique_ptr<FTS, int (*)(FTS*)> tree(
      ::fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, nullptr), ::fts_close);
  uint64_t sum = 0;
  while (const FTSENT* entry = tree ? ::fts_read(tree.get()) : nullptr) {
    if (entry->fts_info == FTS_DP || entry->fts_info == FTS_NS) continue;
    const auto& status = *entry->fts_statp;
    const auto links = S_ISDIR(status.st_mode) ? 1 : std::max<uint64_t>(status.st_nlink, 1);
    sum += static_cast<uint64_t>(status.st_blocks) * 512 / links;
  }
  return sum;
}

}  // namespace

VolumeUsage::~VolumeUsage() {
  *alive_ = false;
  if (!counter_.pidfd.valid()) return;
  ::syscall(SYS_pidfd_send_signal, counter_.pidfd.get(), SIGKILL, nullptr, 0);
  process::Reap(counter_.pidfd.get());
}

void VolumeUsage::Start(const std::vector<runtime::Volume>& volumes,
                        const std::map<std::string, std::string>& paths) {
  using Type = runtime::Volume::Type;
  for (const auto& volume : volumes) {
    if (volume.type == Type::kScratch && volume.size_bytes > 0)
      watched_.push_back({volume.name, paths.at(volume.name), volume.size_bytes});
    if (!volume.quotas.empty())
      watched_.push_back({volume.name, volume.quotas.back().folder, volume.quotas.back().bytes, true});
  }
  if (!watched_.empty()) Look();
}

void VolumeUsage::Stop() {
  ReportQuotas();
  watched_.clear();
}

void VolumeUsage::Look() {
  if (watched_.empty()) return;
  ReportQuotas();
  if (std::ranges::all_of(watched_, &Watched::quota)) return LookAgain(kPeriod);
  CountFiles();
}

void VolumeUsage::ReportQuotas() {
  for (Watched& volume : watched_) {
    if (!volume.quota) continue;
    const auto space = QuotaDisks::Measure(volume.path);
    // Of a file system that has not grown yet, the size it has; what it keeps for itself counts as free until
    // nothing can be written any longer.
    const uint64_t size = space.size < volume.size / 2 ? space.size : volume.size;
    Report(volume, space.full ? size : std::min(space.used, size), size);
  }
}

// In a child, for an emptyDir may hold a million files, and logs must not wait for them.
void VolumeUsage::CountFiles() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC)) return LookAgain(kPeriod * 10);
  UniqueFd reading(ends[0]), writing(ends[1]);
  counting_since_ = host_.executor.Now();
  auto child = process::Clone({}, [&] {
    for (const Watched& volume : watched_) {
      const uint64_t bytes = volume.quota ? 0 : BytesBelow(volume.path);
      if (::write(writing.get(), &bytes, sizeof bytes) != sizeof bytes) return 1;
    }
    return 0;
  });
  if (!child.ok()) return LookAgain(kPeriod * 10);
  counter_ = std::move(child).value();
  writing.Reset();
  counts_ = process::FdWatch(host_.context, UniqueFd(::fcntl(counter_.pidfd.get(), F_DUPFD_CLOEXEC, 0)));
  counts_.WaitReadable([this, pipe = std::make_shared<UniqueFd>(std::move(reading))] {
    std::vector<uint64_t> bytes(watched_.size());
    const auto wanted = static_cast<ssize_t>(bytes.size() * sizeof(uint64_t));
    const bool whole = ::read(pipe->get(), bytes.data(), static_cast<size_t>(wanted)) == wanted;
    for (size_t i = 0; whole && i < watched_.size(); ++i)
      if (!watched_[i].quota) Report(watched_[i], bytes[i], watched_[i].size);
    OnCounted();
  });
}

void VolumeUsage::OnCounted() {
  process::Reap(counter_.pidfd.get());
  counter_ = {};
  counts_.Close();
  LookAgain(std::max<Duration>(kPeriod, (host_.executor.Now() - counting_since_) * kShareOfTime));
}

void VolumeUsage::LookAgain(Duration after) {
  host_.executor.PostAt(host_.executor.Now() + after, [this, alive = alive_] {
    if (*alive) Look();
  });
}

void VolumeUsage::Report(Watched& volume, uint64_t used, uint64_t size) {
  if (volume.reported == used) return;
  volume.reported = used;
  runtime::PodEvent event{.type = runtime::PodEvent::Type::kVolumeUsage, .uid = uid_};
  event.volume = volume.name;
  event.used_bytes = used;
  event.size_bytes = size;
  host_.emit(event);
}

}  // namespace tfemu::supervisor
