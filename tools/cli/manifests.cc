#include "tools/cli/manifests.h"

#include "emulator/rpc/client.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "emulator/api/scheme.h"
#include "emulator/api/view.h"
#include "emulator/base/strings.h"
#include "emulator/base/unique_fd.h"
#include "tools/cli/objects.h"
#include "tools/cli/targets.h"

namespace tfemu::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirst[] = {
    "Namespace", "ResourceQuota", "StorageClass", "PersistentVolume", "PersistentVolumeClaim",
    "ConfigMap", "Secret",        "Service"};

Error TooLarge(const std::string& name) {
  return Error{Reason::kInvalid,
               name + ": the file is larger than " + std::to_string(codec::kMaxYamlBytes >> 20) + " MiB",
               "a manifest this long is a mistake; split it into several files"};
}

Result<std::string> ReadFile(const std::string& path) {
  const bool from_stdin = path == "-";
  UniqueFd file(from_stdin ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!from_stdin && !file.valid())
    return Error{Reason::kInvalid, "cannot read " + path + ": " + std::strerror(errno)};
  struct stat info {};
  const int fd = from_stdin ? STDIN_FILENO : file.get();
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
      static_cast<size_t>(info.st_size) > codec::kMaxYamlBytes)
    return TooLarge(path);
  std::string text, block(65536, '\0');
  for (ssize_t got; (got = ::read(fd, block.data(), block.size())) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{Reason::kInvalid, "cannot read " + path + ": " + std::strerror(errno)};
    text.append(block, 0, static_cast<size_t>(got));
    if (text.size() > codec::kMaxYamlBytes) return TooLarge(path);
  }
  return text;
}

Result<std::vector<std::string>> ListFiles(const std::string& path) {
  std::error_code error;
  if (path.find("://") != std::string::npos)
    return Error{Reason::kBadRequest, "\"" + path + "\" is a URL", "download it first, then give the file"};
  if (path == "-" || !fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const std::string extension = entry.path().extension();
    if (extension == ".yaml" || extension == ".yml" || extension == ".json") files.push_back(entry.path());
  }
  if (error) return Error{Reason::kInvalid, "cannot read the folder " + path + ": " + error.message()};
  if (files.empty()) return Error{Reason::kInvalid, "no *.yaml, *.yml or *.json in the folder " + path};
  std::ranges::sort(files);
  return files;
}

Error AtField(const std::string& file, const codec::Document& document, const std::string& field,
              const std::string& message, const std::string& hint = {}) {
  return Error{Reason::kInvalid,
               file + ":" + std::to_string(document.lines.LineOf(field)) + ": " + field + ": " + message,
               hint};
}

// The kind decides about the namespace, so it is looked up here; the rest is the daemon's to judge.
Result<Manifest> Resolve(const std::string& file, codec::Document document, const std::string& ns) {
  const std::string name_of_kind = api::KindOf(document.value);
  if (name_of_kind.empty())
    return AtField(file, document, "kind", "is missing",
                   "every manifest has apiVersion, kind and metadata.name");
  const auto* kind = api::FindKind(name_of_kind);
  if (kind == nullptr) {
    std::vector<std::string> kinds;
    for (const auto& known : api::Kinds()) kinds.push_back(ToLower(known.kind));
    const std::string closest = Closest(name_of_kind, kinds);
    const auto* meant = closest.empty() ? nullptr : api::FindResource(closest);
    std::string all;
    for (const auto& known : api::Kinds()) all += (all.empty() ? "" : ", ") + std::string(known.kind);
    return AtField(
        file, document, "kind", "unknown kind \"" + name_of_kind + "\"",
        meant != nullptr ? "did you mean \"" + std::string(meant->kind) + "\"?" : "known kinds: " + all);
  }
  if (const auto version = api::ApiVersionOf(document.value); !api::Accepts(*kind, version))
    return AtField(
        file, document, "apiVersion",
        version.empty() ? "is missing" : "\"" + version + "\" is not served for the kind " + name_of_kind,
        "write apiVersion: " + std::string(kind->api_version));
  const std::string own = api::NamespaceOf(document.value);
  if (kind->namespaced && !own.empty() && !ns.empty() && own != ns)
    return AtField(file, document, "metadata.namespace",
                   "\"" + own + "\" does not match the namespace \"" + ns + "\" of -n");
  if (kind->namespaced && own.empty()) api::SetNamespace(document.value, ns.empty() ? "default" : ns);
  api::ObjectKey key{name_of_kind, kind->namespaced ? api::NamespaceOf(document.value) : "",
                     api::NameOf(document.value)};
  return Manifest{file, std::move(document), std::move(key)};
}

size_t Rank(const Manifest& manifest) {
  return static_cast<size_t>(std::ranges::find(kFirst, manifest.key.kind) - std::begin(kFirst));
}

}  // namespace

Result<std::vector<Manifest>> ReadManifests(const std::vector<std::string>& paths, const std::string& ns) {
  std::vector<Manifest> manifests;
  for (const auto& path : paths) {
    ASSIGN_OR_RETURN(const auto files, ListFiles(path));
    for (const auto& file : files) {
      ASSIGN_OR_RETURN(const auto text, ReadFile(file));
      const std::string name = file == "-" ? "stdin" : file;
      ASSIGN_OR_RETURN(auto documents, codec::ParseYaml(text, name));
      for (auto& document : documents) {
        ASSIGN_OR_RETURN(auto manifest, Resolve(name, std::move(document), ns));
        manifests.push_back(std::move(manifest));
      }
    }
  }
  if (manifests.empty()) return Error{Reason::kInvalid, paths.front() + ": no document in it"};
  std::ranges::stable_sort(manifests, {}, Rank);
  return manifests;
}

std::string LocateField(const Manifest& manifest, const std::string& field, const std::string& message) {
  if (manifest.file.empty()) return message;
  const int line = manifest.document.lines.LineOf(field);
  return manifest.file + ":" + std::to_string(line) + ": " + (field.empty() ? "" : field + ": ") + message;
}

std::vector<Error> Locate(const Manifest& manifest, const Error& error) {
  std::vector<Error> located;
  for (const auto& field : error.fields)
    located.push_back({error.reason, LocateField(manifest, field.field, field.message)});
  if (located.empty()) located.push_back({error.reason, LocateField(manifest, "", error.message)});
  located.back().hint = error.hint;
  return located;
}

Result<Applied> WriteManifest(rpc::Client& client, const Manifest& manifest, const ApplyOptions& options) {
  rpc::v1::WriteRequest request;
  request.set_json(manifest.document.value.dump(-1, ' ', false, api::Json::error_handler_t::replace));
  const bool runs = manifest.key.kind == "TFJob" || manifest.key.kind == "Job" || manifest.key.kind == "Pod";
  request.set_create(options.create || (options.new_runs && runs));
  request.set_strict(options.strict);
  request.set_dry_run(options.dry_run);
  ASSIGN_OR_RETURN(const auto reply, client.Call(&rpc::Stub::Write, request));
  ASSIGN_OR_RETURN(auto object, Decode(reply.json()));
  Applied applied{reply.outcome(), std::move(object), {}};
  for (const auto& warning : reply.warnings())
    applied.warnings.push_back(LocateField(manifest, warning.field(), warning.message()));
  return applied;
}

std::vector<Error> CheckManifests(rpc::Client& client, const std::vector<Manifest>& manifests,
                                  const ApplyOptions& options) {
  std::set<std::string> new_namespaces;
  for (const auto& manifest : manifests)
    if (manifest.key.kind == "Namespace") new_namespaces.insert(manifest.key.name);
  ApplyOptions dry = options;
  dry.dry_run = true;
  std::vector<Error> errors;
  for (const auto& manifest : manifests) {
    const auto result = WriteManifest(client, manifest, dry);
    if (result.ok()) continue;
    // A namespace of the same set is not there yet.
    if (result.error().reason == Reason::kNotFound && new_namespaces.contains(manifest.key.ns)) continue;
    for (auto& error : Locate(manifest, result.error())) errors.push_back(std::move(error));
  }
  return errors;
}

}  // namespace tfemu::cli
