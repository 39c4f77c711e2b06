// cgroup v1: one folder in each controller's hierarchy.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/process/cgroup.h"
#include "runtime/process/files.h"

namespace tfemu::process {
namespace {

constexpr int64_t kPeriodMicroseconds = 100'000;
constexpr int64_t kMinQuotaMicroseconds = 1'000;  // the kernel refuses less

class CgroupV1 final : public CgroupDriver {
 public:
  CgroupV1(std::string mount, std::string cluster) : mount_(std::move(mount)), cluster_(std::move(cluster)) {
    for (const char* controller : {"cpu", "memory", "pids"})
      if (::access((mount_ + "/" + controller).c_str(), W_OK) == 0) controllers_.push_back(controller);
  }

  std::string_view name() const override { return "v1"; }

  Result<void> Bound(int64_t threads) override {
    if (std::ranges::find(controllers_, "pids") == controllers_.end()) return {};
    RETURN_IF_ERROR(MakeFolders(Folder("pids", "")));
    return WriteFile(Folder("pids", "") + "/pids.max", std::to_string(threads));
  }

  Result<CgroupDoor> Make(const std::string& path, const runtime::Limits& limits) override {
    for (const auto& controller : controllers_) RETURN_IF_ERROR(MakeFolders(Folder(controller, path)));
    if (limits.cpu_millis > 0) {
      const int64_t quota = std::max(limits.cpu_millis * kPeriodMicroseconds / 1000, kMinQuotaMicroseconds);
      RETURN_IF_ERROR(WriteFile(Folder("cpu", path) + "/cpu.cfs_quota_us", std::to_string(quota)));
    }
    if (limits.cpu_shares > 0)
      RETURN_IF_ERROR(WriteFile(Folder("cpu", path) + "/cpu.shares", std::to_string(limits.cpu_shares)));
    if (limits.memory_bytes > 0)
      RETURN_IF_ERROR(
          WriteFile(Folder("memory", path) + "/memory.limit_in_bytes", std::to_string(limits.memory_bytes)));
    return Open(path);
  }

  Result<CgroupDoor> Open(const std::string& path) override {
    CgroupDoor door;
    for (const auto& controller : controllers_)
      door.join_files.push_back(Folder(controller, path) + "/tasks");
    return door;
  }

  int OomKills(const std::string& path) const override {
    const auto text = ReadFile(Folder("memory", path) + "/memory.oom_control");
    if (!text.ok()) return 0;
    const size_t at = text.value().find("oom_kill ");
    return at == std::string::npos ? 0 : std::atoi(text.value().c_str() + at + 9);
  }

  bool Remove(const std::string& path) override {
    bool gone = true;
    for (const auto& controller : controllers_)
      gone = (::rmdir(Folder(controller, path).c_str()) == 0 || errno == ENOENT) && gone;
    return gone;
  }

 private:
  std::string Folder(const std::string& controller, const std::string& path) const {
    return mount_ + "/" + controller + "/" + cluster_ + (path.empty() ? "" : "/" + path);
  }

  std::string mount_, cluster_;
  std::vector<std::string> controllers_;
};

}  // namespace

std::unique_ptr<CgroupDriver> MakeCgroupV1(std::string mount, std::string cluster) {
  return std::make_unique<CgroupV1>(std::move(mount), std::move(cluster));
}

}  // namespace tfemu::process
