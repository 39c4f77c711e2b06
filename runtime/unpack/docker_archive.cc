// What docker save and podman save write: manifest.json names a configuration and layers for each image.
#include <algorithm>

#include "emulator/base/strings.h"
#include "runtime/image/digest.h"
#include "runtime/unpack/layout_documents.h"

namespace tfemu::unpack {
namespace {

constexpr const char* kManifest = "manifest.json";

Result<Json> Choose(const Json& manifest, const std::string& select) {
  std::vector<std::string> all;
  for (const Json& image : manifest) {
    const auto tags = Texts(image, "RepoTags");
    all.insert(all.end(), tags.begin(), tags.end());
    if (!select.empty() && std::ranges::find(tags, select) != tags.end()) return image;
  }
  if (!select.empty())
    return Wrong(kManifest, "no image is tagged " + select, "its tags are " + Join(all, ", "));
  if (manifest.size() == 1) return manifest.front();
  return Wrong(kManifest, "it holds " + std::to_string(manifest.size()) + " images: " + Join(all, ", "),
               "say which, with select: TAG in image.yaml");
}

// The file is named after its digest, with or without folders and an ending.
std::string DigestInName(const std::string& name) {
  std::string stem = name.substr(name.rfind('/') + 1);
  stem = stem.substr(0, stem.find('.'));
  if (stem.starts_with("sha256:")) stem = stem.substr(7);
  return IsDigest("sha256:" + stem) ? "sha256:" + stem : "";
}

}  // namespace

Result<Layout> ReadDockerArchive(const ImageSource& source, const std::string& select) {
  ASSIGN_OR_RETURN(const std::string text, ReadDocument(source, kManifest, ""));
  ASSIGN_OR_RETURN(const Json manifest, ParseDocument(kManifest, text));
  if (!manifest.is_array() || manifest.empty()) return Wrong(kManifest, "no list of images");
  ASSIGN_OR_RETURN(const Json chosen, Choose(manifest, select));
  Layout layout;
  layout.record.kind = runtime::RootKind::kDockerArchive;
  layout.record.references = Texts(chosen, "RepoTags");
  const auto config_name = CleanPath(Text(chosen, "Config"));
  if (!config_name || config_name->empty()) return Wrong(kManifest, "Config: no name of a file");
  if (!source.Has(*config_name))
    return Wrong(kManifest, "its configuration " + *config_name + " is not in the archive");
  ASSIGN_OR_RETURN(const std::string config, ReadDocument(source, *config_name, DigestInName(*config_name)));
  layout.record.config_digest = "sha256:" + image::Sha256(config);
  ASSIGN_OR_RETURN(const auto diff_ids, ReadConfig(*config_name, config, layout.record));
  const std::vector<std::string> names = Texts(chosen, "Layers");
  if (names.size() != diff_ids.size())
    return Wrong(kManifest, std::to_string(names.size()) + " layers, and the configuration has " +
                                std::to_string(diff_ids.size()));
  for (size_t i = 0; i < names.size(); ++i) {
    const auto name = CleanPath(names[i]);
    if (!name || !source.Has(*name))
      return Wrong(kManifest, "layer " + std::to_string(i + 1) + ", " + names[i] + ", is not in the archive");
    layout.layers.push_back({.name = *name, .diff_id = diff_ids[i], .digest = "", .size = 0});
  }
  return layout;
}

}  // namespace tfemu::unpack
