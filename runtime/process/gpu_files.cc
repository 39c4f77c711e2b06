#include "runtime/process/gpu_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "emulator/base/strings.h"
#include "runtime/process/files.h"
#include "runtime/process/system_error.h"

namespace tfemu::process {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMostBytes = 4096;  // of a report; programs are not to be trusted with more

std::optional<runtime::GpuReport> ParseReport(int pid, const std::string& line) {
  runtime::GpuReport report{pid};
  bool busy = false;
  for (const std::string& field : Split(line, '\t')) {
    const size_t equals = field.find('=');
    if (equals == std::string::npos) return std::nullopt;
    const auto value = ParseInt(field.substr(equals + 1));
    const std::string key = field.substr(0, equals);
    if (!value || *value < 0) return std::nullopt;
    if (key == "index") report.index = static_cast<int>(*value);
    if (key == "busy_ns") report.busy_ns = *value, busy = true;
    if (key == "used_bytes") report.used_bytes = *value;
  }
  return busy ? std::optional(report) : std::nullopt;
}

}  // namespace

Result<void> DiskGpuFiles::Make(const runtime::GpuFolders& folders) {
  RETURN_IF_ERROR(MakeFolders(folders.devices));
  RETURN_IF_ERROR(MakeFolders(folders.use));
  // Whoever the program in the container runs as.
  if (::chmod(folders.use.c_str(), 01777)) return SystemError("chmod " + folders.use);
  return {};
}

Result<void> DiskGpuFiles::Show(const runtime::GpuFolders& folders, const std::string& devices) {
  const std::string fresh = folders.devices + "/.devices", shown = folders.devices + "/devices";
  std::error_code ignored;
  fs::remove(fresh, ignored);
  RETURN_IF_ERROR(CreateFile(fresh, devices, 0644));
  if (::rename(fresh.c_str(), shown.c_str())) return SystemError("rename " + shown);
  return {};
}

std::vector<runtime::GpuReport> DiskGpuFiles::Reports(const runtime::GpuFolders& folders) const {
  std::vector<runtime::GpuReport> reports;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folders.use, error)) {
    const auto pid = ParseInt(entry.path().filename().string());
    const bool plain = entry.symlink_status(error).type() == fs::file_type::regular;
    if (!pid || !plain || entry.file_size(error) > kMostBytes) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      if (const auto report = ParseReport(static_cast<int>(*pid), line)) reports.push_back(*report);
  }
  return reports;
}

void DiskGpuFiles::Remove(const std::string& state_folder, const std::string& pod_uid) {
  std::error_code ignored;
  fs::remove_all(state_folder + "/gpu/" + pod_uid, ignored);
}

}  // namespace tfemu::process
