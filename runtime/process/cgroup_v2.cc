// cgroup v2: one hierarchy; a process is born in its folder.
#include <fcntl.h>

#include <algorithm>
#include <cstdlib>

#include "emulator/base/strings.h"
#include "runtime/process/cgroup.h"
#include "runtime/process/files.h"
#include "runtime/process/system_error.h"

namespace tfemu::process {
namespace {

constexpr int64_t kPeriodMicroseconds = 100'000;
constexpr int64_t kMinQuotaMicroseconds = 1'000;

// The kernel's shares 2..262144 as weight 1..10000, as Kubernetes converts them.
int64_t Weight(int64_t shares) { return 1 + (std::clamp<int64_t>(shares, 2, 262'144) - 2) * 9999 / 262'142; }

class CgroupV2 final : public CgroupDriver {
 public:
  CgroupV2(std::string mount, std::string cluster) : mount_(std::move(mount)), cluster_(std::move(cluster)) {}

  std::string_view name() const override { return "v2"; }

  Result<void> Bound(int64_t threads) override {
    RETURN_IF_ERROR(MakeFolders(Folder("")));
    RETURN_IF_ERROR(WriteFile(mount_ + "/cgroup.subtree_control", "+cpu +memory +pids"));
    return WriteFile(Folder("") + "/pids.max", std::to_string(threads));
  }

  Result<CgroupDoor> Make(const std::string& path, const runtime::Limits& limits) override {
    RETURN_IF_ERROR(MakeFolders(Folder(path)));
    RETURN_IF_ERROR(PassDown(path));
    if (limits.cpu_millis > 0) {
      const int64_t quota = std::max(limits.cpu_millis * kPeriodMicroseconds / 1000, kMinQuotaMicroseconds);
      RETURN_IF_ERROR(WriteFile(Folder(path) + "/cpu.max",
                                std::to_string(quota) + " " + std::to_string(kPeriodMicroseconds)));
    }
    if (limits.cpu_shares > 0)
      RETURN_IF_ERROR(WriteFile(Folder(path) + "/cpu.weight", std::to_string(Weight(limits.cpu_shares))));
    if (limits.memory_bytes > 0) {
      RETURN_IF_ERROR(WriteFile(Folder(path) + "/memory.max", std::to_string(limits.memory_bytes)));
      (void)WriteFile(Folder(path) + "/memory.swap.max", "0")
          .ok();  // absent where the kernel has no swap accounting
    }
    return Open(path);
  }

  Result<CgroupDoor> Open(const std::string& path) override {
    CgroupDoor door;
    door.clone_into.Reset(::open(Folder(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!door.clone_into.valid()) return SystemError("open " + Folder(path));
    return door;
  }

  int OomKills(const std::string& path) const override {
    const auto text = ReadFile(Folder(path) + "/memory.events");
    if (!text.ok()) return 0;
    const size_t at = text.value().find("oom_kill ");
    return at == std::string::npos ? 0 : std::atoi(text.value().c_str() + at + 9);
  }

  bool Remove(const std::string& path) override {
    return ::rmdir(Folder(path).c_str()) == 0 || errno == ENOENT;
  }

 private:
  std::string Folder(const std::string& path) const {
    return mount_ + "/" + cluster_ + (path.empty() ? "" : "/" + path);
  }

  // A controller works in a folder only when every folder above it passes it down.
  Result<void> PassDown(const std::string& path) {
    std::string folder = mount_;
    RETURN_IF_ERROR(WriteFile(folder + "/cgroup.subtree_control", "+cpu +memory +pids"));
    for (const auto& part : Split(cluster_ + "/" + ParentFolder(path), '/')) {
      if (part == ".") continue;
      folder += "/" + part;
      RETURN_IF_ERROR(WriteFile(folder + "/cgroup.subtree_control", "+cpu +memory +pids"));
    }
    return {};
  }

  std::string mount_, cluster_;
};

}  // namespace

std::unique_ptr<CgroupDriver> MakeCgroupV2(std::string mount, std::string cluster) {
  return std::make_unique<CgroupV2>(std::move(mount), std::move(cluster));
}

}  // namespace tfemu::process
