#include "runtime/image/layer_store.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "emulator/base/unique_fd.h"
#include "runtime/image/archive_record.h"

namespace tfemu::image {
namespace {

namespace fs = std::filesystem;

std::string Slurp(const fs::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Folders of the layers that records name, of those records that stay.
std::set<std::string> KeepRecords(const std::string& cache_folder, const std::vector<std::string>& forgotten,
                                  bool dry, Pruned& pruned) {
  std::set<std::string> named;
  std::error_code error;
  const fs::path roots = fs::path(RecordPath(cache_folder, "x")).parent_path();
  std::vector<fs::path> gone;
  for (const auto& entry : fs::directory_iterator(roots, error)) {
    const std::string key = entry.path().stem();
    const auto record = ArchiveRecordFromJson(Slurp(entry.path()));
    const bool stays = record.ok() && std::ranges::find(forgotten, key) == forgotten.end() &&
                       ArchiveKey(record.value().source, record.value().select) == key;
    if (stays) named.insert(record.value().folders.begin(), record.value().folders.end());
    else gone.push_back(entry.path());
  }
  for (const fs::path& path : gone) {
    ++pruned.records;
    if (!dry) fs::remove(path, error);
  }
  return named;
}

uint64_t SizeOf(const fs::path& layer) {
  const auto json = nlohmann::json::parse(Slurp(layer / "layer.json"), nullptr, false);
  return json.is_object() ? json.value("unpacked", uint64_t{0}) : 0;
}

}  // namespace

Result<Pruned> PruneStore(const std::string& cache_folder, const std::vector<std::string>& forgotten,
                          bool dry) {
  Pruned pruned;
  const fs::path layers = LayersFolder(cache_folder);
  std::error_code error;
  if (!fs::is_directory(layers, error)) return pruned;
  const UniqueFd lock(::open((layers / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return Error{Reason::kForbidden, "cannot write to " + layers.string()};
  if (::flock(lock.get(), LOCK_EX | LOCK_NB))
    return Error{Reason::kUnavailable, "another tfemu is unpacking an image now",
                 "try again when it has ended"};
  const auto named = KeepRecords(cache_folder, forgotten, dry, pruned);
  std::vector<fs::path> unnamed;
  for (const auto& entry : fs::directory_iterator(layers, error))
    if (entry.is_directory() && !named.contains(entry.path().filename())) unnamed.push_back(entry.path());
  for (const fs::path& layer : unnamed) {
    // A container holds its layers with a shared lock for as long as it runs.
    const UniqueFd folder(::open((layer / "fs").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.valid() && ::flock(folder.get(), LOCK_EX | LOCK_NB)) {
      pruned.kept.push_back(layer.filename());
      continue;
    }
    ++pruned.layers;
    pruned.bytes += SizeOf(layer);
    if (!dry) fs::remove_all(layer, error);
  }
  return pruned;
}

}  // namespace tfemu::image
