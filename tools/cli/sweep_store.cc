#include "tools/cli/sweep_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace tfemu::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResults = "results.json";

std::string Slurp(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// "tensorflow.2.log" is the third attempt.
int AttemptOf(const fs::path& log) {
  const std::string stem = log.stem().string();
  return std::atoi(stem.substr(stem.rfind('.') + 1).c_str());
}

}  // namespace

Result<SweepStore> SweepStore::Open(const std::string& folder) {
  std::error_code error;
  if (folder.empty()) {
    std::string name = (fs::temp_directory_path(error) / "tfemu-sweep-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      return Error{Reason::kUnavailable,
                   "cannot make a folder in /tmp: " + std::string(std::strerror(errno))};
    return SweepStore(name, true);
  }
  fs::create_directories(folder, error);
  if (error) return Error{Reason::kUnavailable, "cannot make the folder " + folder + ": " + error.message()};
  return SweepStore(folder, false);
}

SweepStore::SweepStore(SweepStore&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), temporary_(other.temporary_) {}

SweepStore::~SweepStore() {
  std::error_code error;
  if (temporary_ && !folder_.empty()) fs::remove_all(folder_, error);
}

std::string SweepStore::PathOf(const std::string& name) const { return (fs::path(folder_) / name).string(); }

std::string SweepStore::LogFolder(const std::string& run) const { return PathOf("logs/" + run); }

Result<std::vector<SweepPoint>> SweepStore::Earlier() const {
  std::error_code error;
  if (!fs::exists(PathOf(kResults), error)) return std::vector<SweepPoint>();
  auto points = PointsFromJson(Slurp(PathOf(kResults)));
  if (!points.ok())
    return Error{points.error().reason, PathOf(kResults) + " " + points.error().message, points.error().hint};
  return points;
}

Result<void> SweepStore::Write(const std::string& name, const std::string& text) const {
  const std::string path = PathOf(name), next = path + ".new";
  std::ofstream file(next);
  file << text;
  file.close();
  std::error_code error;
  if (!file.fail()) fs::rename(next, path, error);
  if (file.fail() || error) return Error{Reason::kUnavailable, "cannot write " + path};
  return {};
}

Result<void> SweepStore::Save(const SweepResults& results) const {
  if (temporary_) return {};
  return Write(kResults, SweepToJson(results).dump(2) + "\n");
}

Result<void> SweepStore::SaveReport(const SweepResults& results, const std::vector<Reference>& references,
                                    const std::string& command) const {
  if (temporary_) return {};
  const std::string plot = PlotSweep(results, references);
  RETURN_IF_ERROR(Save(results));
  RETURN_IF_ERROR(Write("results.csv", FormatSweepCsv(results)));
  RETURN_IF_ERROR(Write("plot.svg", plot));
  return Write("index.html", SweepPage(results, plot, command));
}

std::map<std::string, std::string> SweepStore::ReadLogs(const std::string& folder) {
  std::map<std::string, std::string> logs;
  std::error_code error;
  for (const auto& pod : fs::directory_iterator(folder, error)) {
    std::map<int, std::string> attempts;
    for (const auto& file : fs::directory_iterator(pod.path(), error))
      attempts[AttemptOf(file.path())] += Slurp(file.path());
    if (!attempts.empty()) logs[pod.path().filename()] = attempts.rbegin()->second;
  }
  return logs;
}

}  // namespace tfemu::cli
