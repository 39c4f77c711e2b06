#include "runtime/unpack/layout_documents.h"

#include <sys/utsname.h>

namespace tfemu::unpack {

Error Wrong(const std::string& document, const std::string& what, const std::string& hint) {
  return {.reason = Reason::kInvalid, .message = document + ": " + what, .hint = hint};
}

bool IsDigest(const std::string& text) {
  return text.size() == 71 && text.starts_with("sha256:") &&
         text.find_first_not_of("0123456789abcdef", 7) == text.npos;
}

Result<std::string> ReadDocument(const ImageSource& source, const std::string& name,
                                 const std::string& digest) {
  ASSIGN_OR_RETURN(const auto stream, source.Open(name));
  HashingStream hashing(*stream);
  ASSIGN_OR_RETURN(std::string text, ReadAll(hashing, kMaxDocument, name));
  if (digest.empty()) return text;
  const std::string found = hashing.Digest();
  if (found != digest) return Wrong(name, "wrong digest: it must be " + digest + " and is " + found);
  return text;
}

Result<Json> ParseDocument(const std::string& name, const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Wrong(name, "no JSON");
  return json;
}

std::string Text(const Json& json, const char* key) {
  if (!json.is_object()) return "";
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> Texts(const Json& json, const char* key) {
  std::vector<std::string> texts;
  if (!json.is_object()) return texts;
  const auto found = json.find(key);
  if (found == json.end()) return texts;
  if (found->is_string()) return {"/bin/sh", "-c", found->get<std::string>()};  // ENTRYPOINT of old builders
  for (const Json& item : *found)
    if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

std::map<std::string, std::string> TextMap(const Json& json, const char* key) {
  std::map<std::string, std::string> texts;
  if (!json.is_object()) return texts;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_object()) return texts;
  for (const auto& [name, value] : found->items())
    if (value.is_string()) texts[name] = value.get<std::string>();
  return texts;
}

Result<std::vector<std::string>> ReadConfig(const std::string& name, const std::string& text,
                                            image::ArchiveRecord& record) {
  ASSIGN_OR_RETURN(const Json json, ParseDocument(name, text));
  if (!json.is_object()) return Wrong(name, "the configuration is no JSON object");
  record.architecture = Text(json, "architecture");
  record.os = Text(json, "os");
  const Json config = json.value("config", Json::object());
  for (const std::string& variable : Texts(config, "Env")) {
    const size_t equals = variable.find('=');
    if (equals == 0 || equals == variable.npos) {
      record.notes.push_back("config.Env: \"" + variable + "\" is no NAME=value and is left out");
      continue;
    }
    record.env[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  record.entrypoint = Texts(config, "Entrypoint");
  record.cmd = Texts(config, "Cmd");
  record.user = Text(config, "User");
  record.working_dir = Text(config, "WorkingDir");
  if (!record.working_dir.empty() && !record.working_dir.starts_with('/'))
    record.working_dir = "/" + record.working_dir;
  record.labels = TextMap(config, "Labels");
  const std::vector<std::string> diff_ids = Texts(json.value("rootfs", Json::object()), "diff_ids");
  for (const std::string& diff_id : diff_ids)
    if (!IsDigest(diff_id)) return Wrong(name, "rootfs.diff_ids: \"" + diff_id + "\" is no sha256 digest");
  return diff_ids;
}

std::string HostArchitecture() {
  utsname name{};
  ::uname(&name);
  const std::string machine = name.machine;
  if (machine == "x86_64") return "amd64";
  if (machine == "aarch64") return "arm64";
  return machine;
}

Result<Layout> ReadLayout(const ImageSource& source, const std::string& select) {
  if (source.Has("manifest.json")) return ReadDockerArchive(source, select);
  if (source.Has("index.json")) return ReadOciLayout(source, select);
  return Error{.reason = Reason::kInvalid,
               .message = "it has layers, but neither a manifest.json nor an index.json",
               .hint = "make it with docker save, podman save or skopeo copy"};
}

}  // namespace tfemu::unpack
