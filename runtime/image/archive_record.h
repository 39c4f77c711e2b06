// What is known about an image archive once it is unpacked: its configuration and its layers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/base/result.h"
#include "runtime/image.h"

namespace tfemu::image {

struct ArchiveRecord {
  runtime::RootKind kind = runtime::RootKind::kTar;
  std::string source, select;  // as in runtime::Image
  std::string config_digest;   // "sha256:…"; of the layer's where there is no configuration
  std::string architecture, os;
  std::vector<std::string> references;  // tags that the archive gives itself
  std::map<std::string, std::string> env, labels;
  std::vector<std::string> entrypoint, cmd;
  std::string user, working_dir;
  std::vector<runtime::ImageLayer> layers;  // the lowest first
  std::vector<std::string> folders;         // names below the store's folder; the lowest first
  std::vector<std::string> notes;           // what was left out or is odd
};

std::string ToJson(const ArchiveRecord& record);
Result<ArchiveRecord> ArchiveRecordFromJson(const std::string& text);

// Changes with the archive: its path, size and times (of index.json, for a folder), and `select`.
std::string ArchiveKey(const std::string& source, const std::string& select);

// Layers and records of a cache folder, shared by all clusters of a user:
//   CACHE/layers/HEX/fs    one layer, HEX being the SHA-256 of its tar; fs is given to overlayfs
//   CACHE/roots/KEY.json   the record of one archive
std::string LayersFolder(const std::string& cache_folder);
std::string RecordPath(const std::string& cache_folder, const std::string& key);
std::string LayerPath(const std::string& cache_folder, const std::string& name);

// Nothing when the archive is not unpacked, or a layer has gone.
std::optional<ArchiveRecord> LoadRecord(const std::string& cache_folder, const std::string& key);

// `image` says what its image.yaml says; what that leaves open comes from the record.
void Apply(const ArchiveRecord& record, const std::string& cache_folder, runtime::Image& image);

}  // namespace tfemu::image
