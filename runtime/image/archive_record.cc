#include "runtime/image/archive_record.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "runtime/image/digest.h"

namespace tfemu::image {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

}  // namespace

std::string ToJson(const ArchiveRecord& record) {
  Json layers = Json::array();
  for (const auto& layer : record.layers)
    layers.push_back({{"diffId", layer.diff_id},
                      {"digest", layer.digest},
                      {"packed", layer.packed_bytes},
                      {"unpacked", layer.unpacked_bytes},
                      {"entries", layer.entries}});
  const Json json{{"kind", static_cast<int>(record.kind)},
                  {"source", record.source},
                  {"select", record.select},
                  {"configDigest", record.config_digest},
                  {"architecture", record.architecture},
                  {"os", record.os},
                  {"references", record.references},
                  {"env", record.env},
                  {"labels", record.labels},
                  {"entrypoint", record.entrypoint},
                  {"cmd", record.cmd},
                  {"user", record.user},
                  {"workingDir", record.working_dir},
                  {"layers", layers},
                  {"folders", record.folders},
                  {"notes", record.notes}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ArchiveRecord> ArchiveRecordFromJson(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    ArchiveRecord record;
    record.kind = static_cast<runtime::RootKind>(json.at("kind").get<int>());
    json.at("source").get_to(record.source);
    json.at("select").get_to(record.select);
    json.at("configDigest").get_to(record.config_digest);
    json.at("architecture").get_to(record.architecture);
    json.at("os").get_to(record.os);
    json.at("references").get_to(record.references);
    json.at("env").get_to(record.env);
    json.at("labels").get_to(record.labels);
    json.at("entrypoint").get_to(record.entrypoint);
    json.at("cmd").get_to(record.cmd);
    json.at("user").get_to(record.user);
    json.at("workingDir").get_to(record.working_dir);
    json.at("folders").get_to(record.folders);
    json.at("notes").get_to(record.notes);
    for (const Json& layer : json.at("layers"))
      record.layers.push_back({.diff_id = layer.at("diffId"),
                               .digest = layer.at("digest"),
                               .packed_bytes = layer.at("packed"),
                               .unpacked_bytes = layer.at("unpacked"),
                               .entries = layer.at("entries")});
    return record;
  } catch (const Json::exception& error) {
    return Error{.message = std::string("no record of an archive: ") + error.what()};
  }
}

std::string ArchiveKey(const std::string& source, const std::string& select) {
  std::error_code error;
  const std::string file = fs::is_directory(source, error) ? source + "/index.json" : source;
  struct stat status {};
  ::stat(file.c_str(), &status);
  std::string identity = source + '\0' + select;
  for (const auto number :
       {static_cast<int64_t>(status.st_size), static_cast<int64_t>(status.st_ino),
        static_cast<int64_t>(status.st_mtim.tv_sec), static_cast<int64_t>(status.st_mtim.tv_nsec)})
    identity += '\0' + std::to_string(number);
  return Sha256(identity);
}

std::string LayersFolder(const std::string& cache_folder) { return cache_folder + "/layers"; }

std::string RecordPath(const std::string& cache_folder, const std::string& key) {
  return cache_folder + "/roots/" + key + ".json";
}

std::string LayerPath(const std::string& cache_folder, const std::string& name) {
  return LayersFolder(cache_folder) + "/" + name + "/fs";
}

std::optional<ArchiveRecord> LoadRecord(const std::string& cache_folder, const std::string& key) {
  std::ifstream file(RecordPath(cache_folder, key));
  if (!file) return std::nullopt;
  auto record = ArchiveRecordFromJson(std::string(std::istreambuf_iterator<char>(file), {}));
  if (!record.ok()) return std::nullopt;
  std::error_code error;
  for (const std::string& folder : record.value().folders)
    if (!fs::is_directory(LayerPath(cache_folder, folder), error)) return std::nullopt;
  return std::move(record).value();
}

void Apply(const ArchiveRecord& record, const std::string& cache_folder, runtime::Image& image) {
  std::vector<std::string> layers;
  for (const std::string& folder : record.folders) layers.push_back(LayerPath(cache_folder, folder));
  image.root.layers.insert(image.root.layers.begin(), layers.begin(), layers.end());
  image.root_kind = record.kind;
  image.id = record.config_digest;
  image.archive_layers = record.layers;
  image.archive_references = record.references;
  image.architecture = record.architecture;
  image.labels = record.labels;
  image.notes = record.notes;
  image.env.insert(record.env.begin(), record.env.end());  // keeps what image.yaml says
  // A new entrypoint does not go with the old command, as with docker run --entrypoint.
  if (image.entrypoint.empty() && image.cmd.empty()) image.cmd = record.cmd;
  if (image.entrypoint.empty()) image.entrypoint = record.entrypoint;
  if (image.working_dir.empty()) image.working_dir = record.working_dir;
  if (image.working_dir.empty()) image.working_dir = "/";
  image.unpacked = true;
  if (image.user.empty()) image.user = record.user;
  if (image.size_bytes == 0)
    for (const auto& layer : record.layers) image.size_bytes += layer.packed_bytes;
}

}  // namespace tfemu::image
