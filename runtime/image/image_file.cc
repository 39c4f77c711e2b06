// image.yaml into runtime::Image. Every key has one function in the table below; other keys are errors.
#include "runtime/image/image_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "emulator/base/strings.h"
#include "runtime/image/archive_record.h"
#include "runtime/image/digest.h"

namespace tfemu::image {
namespace {

namespace fs = std::filesystem;

struct Context {
  std::string folder;

  Error Fail(const YAML::Node& at, const std::string& message, std::string hint = "") const {
    const int line = at.Mark().is_null() ? 1 : at.Mark().line + 1;
    return {.reason = Reason::kInvalid,
            .message = folder + "/" + kImageFile + ":" + std::to_string(line) + ": " + message,
            .hint = std::move(hint)};
  }
  std::string Absolute(const std::string& path) const {
    return (fs::path(folder) / path).lexically_normal().string();
  }
};

Result<std::string> Scalar(const Context& context, const YAML::Node& node, const std::string& what) {
  if (!node.IsScalar()) return context.Fail(node, what + " must be one word or a quoted string");
  return node.Scalar();
}

Result<std::vector<std::string>> Strings(const Context& context, const YAML::Node& node,
                                         const std::string& what) {
  if (!node.IsSequence()) return context.Fail(node, what + " must be a list", what + ": [one, two]");
  std::vector<std::string> values;
  for (const YAML::Node& item : node) {
    ASSIGN_OR_RETURN(values.emplace_back(), Scalar(context, item, what + "[]"));
  }
  return values;
}

Result<void> ReadReferences(const Context& context, const YAML::Node& node, runtime::Image& image) {
  ASSIGN_OR_RETURN(image.references, Strings(context, node, "references"));
  for (const std::string& pattern : image.references) {
    if (pattern.empty()) return context.Fail(node, "references: a pattern is empty");
  }
  return {};
}

Result<void> ReadRoot(const Context& context, const YAML::Node& node, runtime::Image& image) {
  const Result<std::string> root = Scalar(context, node, "root");
  if (!root.ok()) return root.error();
  image.root.host = root.value() == "host";
  if (image.root.host) return {};
  const std::string path = context.Absolute(root.value());
  if (!fs::exists(path)) return context.Fail(node, "root: there is no " + path, "root: host, or a directory");
  if (fs::is_directory(path) && !fs::exists(fs::path(path) / "oci-layout")) {
    image.root_kind = runtime::RootKind::kFolder;
    image.root.layers.insert(image.root.layers.begin(), path);
    return {};
  }
  if (!fs::is_directory(path) && !fs::is_regular_file(path)) {
    return context.Fail(node, "root: " + path + " is neither a file nor a folder");
  }
  image.archive = path;
  image.root_kind = fs::is_directory(path) ? runtime::RootKind::kOciLayout : runtime::RootKind::kTar;
  return {};
}

Result<void> ReadSelect(const Context& context, const YAML::Node& node, runtime::Image& image) {
  ASSIGN_OR_RETURN(image.select, Scalar(context, node, "select"));
  return {};
}

Result<void> ReadUser(const Context& context, const YAML::Node& node, runtime::Image& image) {
  ASSIGN_OR_RETURN(image.user, Scalar(context, node, "user"));
  return {};
}

Result<void> ReadLayers(const Context& context, const YAML::Node& node, runtime::Image& image) {
  ASSIGN_OR_RETURN(const auto layers, Strings(context, node, "layers"));
  for (const std::string& layer : layers) {
    const std::string path = context.Absolute(layer);
    if (!fs::is_directory(path)) {
      return context.Fail(node, "layers: there is no folder " + path, "mkdir -p " + path);
    }
    image.root.layers.push_back(path);
  }
  return {};
}

Result<void> ReadPython(const Context& context, const YAML::Node& node, runtime::Image& image) {
  if (!node.IsMap())
    return context.Fail(node, "python must be a map", "python: {requirements: requirements.txt}");
  for (const auto& entry : node) {
    if (entry.first.Scalar() != "requirements") {
      return context.Fail(entry.first, "python: unknown key \"" + entry.first.Scalar() + "\"",
                          "the only key is requirements");
    }
    ASSIGN_OR_RETURN(const std::string file, Scalar(context, entry.second, "python.requirements"));
    image.requirements = context.Absolute(file);
    if (!fs::is_regular_file(image.requirements)) {
      return context.Fail(entry.second, "python.requirements: there is no file " + image.requirements);
    }
  }
  return {};
}

Result<void> ReadEnv(const Context& context, const YAML::Node& node, runtime::Image& image) {
  if (!node.IsMap()) return context.Fail(node, "env must be a map", "env: {NAME: \"value\"}");
  for (const auto& entry : node) {
    const std::string name = entry.first.Scalar();
    if (name.empty() || name.find('=') != name.npos) {
      return context.Fail(entry.first, "env: \"" + name + "\" is no name of a variable");
    }
    ASSIGN_OR_RETURN(const std::string value, Scalar(context, entry.second, "env." + name));
    if (!image.env.emplace(name, value).second)
      return context.Fail(entry.first, "env: " + name + " is there twice");
  }
  return {};
}

Result<void> ReadEntrypoint(const Context& context, const YAML::Node& node, runtime::Image& image) {
  ASSIGN_OR_RETURN(image.entrypoint, Strings(context, node, "entrypoint"));
  return {};
}

Result<void> ReadCmd(const Context& context, const YAML::Node& node, runtime::Image& image) {
  ASSIGN_OR_RETURN(image.cmd, Strings(context, node, "cmd"));
  return {};
}

Result<void> ReadWorkingDir(const Context& context, const YAML::Node& node, runtime::Image& image) {
  ASSIGN_OR_RETURN(image.working_dir, Scalar(context, node, "workingDir"));
  if (!image.working_dir.starts_with('/')) return context.Fail(node, "workingDir must begin with /");
  return {};
}

Result<uint64_t> Size(const Context& context, const YAML::Node& node, const std::string& what) {
  ASSIGN_OR_RETURN(const std::string text, Scalar(context, node, what));
  static constexpr std::pair<std::string_view, uint64_t> kUnits[] = {
      {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}, {"Ki", 1ull << 10}, {"Mi", 1ull << 20},
      {"Gi", 1ull << 30},  {"KB", 1000},        {"MB", 1000000},     {"GB", 1000000000}, {"", 1}};
  for (const auto& [suffix, factor] : kUnits) {
    if (!std::string_view(text).ends_with(suffix)) continue;
    const auto number = ParseInt(Trim(std::string_view(text).substr(0, text.size() - suffix.size())));
    if (!number || *number < 0 || static_cast<uint64_t>(*number) > (1ull << 50) / factor) break;
    return static_cast<uint64_t>(*number) * factor;
  }
  return context.Fail(node, what + ": \"" + text + "\" is no size", what + ": 1200MiB");
}

Result<void> ReadSize(const Context& context, const YAML::Node& node, runtime::Image& image) {
  ASSIGN_OR_RETURN(image.size_bytes, Size(context, node, "size"));
  return {};
}

Result<void> ReadLimits(const Context& context, const YAML::Node& node, runtime::Image& image) {
  if (!node.IsMap()) return context.Fail(node, "limits must be a map", "limits: {bytes: 100GiB}");
  for (const auto& entry : node) {
    const std::string key = entry.first.Scalar();
    uint64_t* const place = key == "bytes"     ? &image.limits.bytes
                            : key == "entries" ? &image.limits.entries
                            : key == "ratio"   ? &image.limits.ratio
                                               : nullptr;
    if (!place) {
      return context.Fail(entry.first, "limits: unknown key \"" + key + "\"",
                          "the keys are bytes, entries, ratio");
    }
    ASSIGN_OR_RETURN(*place, Size(context, entry.second, key));
    if (*place == 0) return context.Fail(entry.second, "limits." + key + " must be more than 0");
  }
  return {};
}

using ReadKey = Result<void> (*)(const Context&, const YAML::Node&, runtime::Image&);
constexpr std::pair<std::string_view, ReadKey> kKeys[] = {{"references", ReadReferences},
                                                          {"root", ReadRoot},
                                                          {"layers", ReadLayers},
                                                          {"python", ReadPython},
                                                          {"env", ReadEnv},
                                                          {"entrypoint", ReadEntrypoint},
                                                          {"cmd", ReadCmd},
                                                          {"workingDir", ReadWorkingDir},
                                                          {"user", ReadUser},
                                                          {"select", ReadSelect},
                                                          {"limits", ReadLimits},
                                                          {"size", ReadSize}};

std::string Closest(const std::string& key) {
  std::string closest;
  std::string all;
  for (const auto& [name, read] : kKeys) {
    if (EditDistance(key, name) <= std::max<size_t>(1, key.size() / 3)) closest = std::string(name);
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  return closest.empty() ? "the keys are " + all : "did you mean " + closest + "?";
}

Result<void> ReadDocument(const Context& context, const YAML::Node& document, runtime::Image& image) {
  if (!document.IsMap()) return context.Fail(document, "must be a map of keys", Closest(""));
  std::set<std::string> seen;
  for (const auto& entry : document) {
    const std::string key = entry.first.Scalar();
    if (!seen.insert(key).second) return context.Fail(entry.first, "the key " + key + " is there twice");
    ReadKey read = nullptr;
    for (const auto& [name, function] : kKeys) {
      if (name == key) read = function;
    }
    if (!read) return context.Fail(entry.first, "unknown key \"" + key + "\"", Closest(key));
    if (entry.second.IsNull()) continue;
    RETURN_IF_ERROR(read(context, entry.second, image));
  }
  if (image.references.empty()) {
    return context.Fail(document, "references: required, so that a manifest can name this image",
                        "references: [\"*/team/mnist:*\"]");
  }
  return {};
}

}  // namespace

Result<runtime::Image> ReadImageFolder(const std::string& folder) {
  const Context context{folder};
  std::ifstream file(folder + "/" + kImageFile);
  if (!file) return Error{.reason = Reason::kNotFound, .message = "there is no " + folder + "/" + kImageFile};
  std::stringstream text;
  text << file.rdbuf();
  runtime::Image image{.folder = folder, .working_dir = ""};
  try {
    RETURN_IF_ERROR(ReadDocument(context, YAML::Load(text.str()), image));
  } catch (const YAML::Exception& error) {
    return Error{
        .reason = Reason::kInvalid,
        .message = folder + "/" + kImageFile + ":" + std::to_string(error.mark.line + 1) + ": " + error.msg};
  }
  std::string identity = text.str();
  if (!image.requirements.empty()) {
    std::ifstream requirements(image.requirements);
    identity.append(1, '\0').append(std::istreambuf_iterator<char>(requirements), {});
  }
  for (const std::string& layer : image.root.layers) identity.append(1, '\0').append(layer);
  if (!image.archive.empty()) identity.append(1, '\0').append(ArchiveKey(image.archive, image.select));
  image.id = "sha256:" + Sha256(identity);
  if (image.archive.empty() && image.working_dir.empty()) image.working_dir = "/";
  return image;
}

}  // namespace tfemu::image
