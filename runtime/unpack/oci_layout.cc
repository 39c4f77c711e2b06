// An OCI image layout: index.json leads, by digests, to a manifest, its configuration and its layers.
#include <algorithm>

#include "emulator/base/strings.h"
#include "runtime/unpack/layout_documents.h"

namespace tfemu::unpack {
namespace {

constexpr const char* kTagKey = "org.opencontainers.image.ref.name";
constexpr const char* kFullNameKey = "io.containerd.image.name";
constexpr int kMaxDepth = 4;

struct Candidate {
  std::string digest, platform;
  std::vector<std::string> references;
};

std::string BlobName(const std::string& digest) { return "blobs/sha256/" + digest.substr(7); }

Result<std::string> ReadBlob(const ImageSource& source, const std::string& digest,
                             const std::string& asked_by) {
  if (!IsDigest(digest)) return Wrong(asked_by, "\"" + digest + "\" is no sha256 digest");
  if (!source.Has(BlobName(digest))) return Wrong(asked_by, digest + " is not in the layout");
  return ReadDocument(source, BlobName(digest), digest);
}

bool IsIndex(const std::string& media_type) {
  return media_type == "application/vnd.oci.image.index.v1+json" ||
         media_type == "application/vnd.docker.distribution.manifest.list.v2+json";
}

void AddReferences(const Json& descriptor, std::vector<std::string>& references) {
  const auto annotations = TextMap(descriptor, "annotations");
  for (const char* key : {kFullNameKey, kTagKey})
    if (const auto found = annotations.find(key); found != annotations.end())
      if (std::ranges::find(references, found->second) == references.end())
        references.push_back(found->second);
}

// The manifests below an index, without attestations.
class Collector {
 public:
  explicit Collector(const ImageSource& source) : source_(source) {}

  Result<void> Collect(const std::string& name, const Json& index, const std::vector<std::string>& references,
                       int depth) {
    if (depth > kMaxDepth) return Wrong(name, "indexes lie in indexes too deeply");
    if (!index.is_object() || !index.contains("manifests") || !index["manifests"].is_array())
      return Wrong(name, "no list of manifests");
    for (const Json& descriptor : index["manifests"])
      RETURN_IF_ERROR(Add(name, descriptor, references, depth));
    return {};
  }
  std::vector<Candidate>& candidates() { return candidates_; }

 private:
  Result<void> Add(const std::string& name, const Json& descriptor, std::vector<std::string> references,
                   int depth) {
    AddReferences(descriptor, references);
    const std::string digest = Text(descriptor, "digest");
    if (IsIndex(Text(descriptor, "mediaType"))) {
      ASSIGN_OR_RETURN(const std::string text, ReadBlob(source_, digest, name));
      ASSIGN_OR_RETURN(const Json index, ParseDocument(BlobName(digest), text));
      return Collect(BlobName(digest), index, references, depth + 1);
    }
    const Json platform =
        descriptor.is_object() ? descriptor.value("platform", Json::object()) : Json::object();
    const std::string os = Text(platform, "os"), architecture = Text(platform, "architecture");
    if (os == "unknown" && architecture == "unknown") return {};  // an attestation of buildkit's
    candidates_.push_back({digest, os.empty() ? "" : os + "/" + architecture, std::move(references)});
    return {};
  }

  const ImageSource& source_;
  std::vector<Candidate> candidates_;
};

bool Answers(const Candidate& candidate, const std::string& select) {
  return select.empty() || select == candidate.digest ||
         std::ranges::find(candidate.references, select) != candidate.references.end();
}

Result<Candidate> Choose(std::vector<Candidate>& candidates, const std::string& select) {
  const std::string host = "linux/" + HostArchitecture();
  std::vector<std::string> seen;
  for (const Candidate& one : candidates)
    seen.push_back((one.references.empty() ? one.digest : one.references.front()) +
                   (one.platform.empty() ? "" : " (" + one.platform + ")"));
  std::erase_if(candidates, [&](const Candidate& one) { return !Answers(one, select); });
  if (candidates.size() > 1)
    std::erase_if(candidates,
                  [&](const Candidate& one) { return !one.platform.empty() && one.platform != host; });
  if (candidates.size() == 1) return candidates.front();
  const std::string what = candidates.empty() ? "none of its images fits" : "it holds several images";
  return Wrong("index.json", what + ": " + Join(seen, ", "),
               candidates.empty()
                   ? "this host is " + host + (select.empty() ? "" : ", and select is " + select)
                   : "say which, with select: TAG in image.yaml");
}

Result<void> ReadLayers(const std::string& name, const Json& manifest,
                        const std::vector<std::string>& diff_ids, Layout& layout) {
  const Json layers = manifest.value("layers", Json::array());
  if (!layers.is_array() || layers.size() != diff_ids.size())
    return Wrong(name, std::to_string(layers.size()) + " layers, and the configuration has " +
                           std::to_string(diff_ids.size()));
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string type = Text(layers[i], "mediaType"), digest = Text(layers[i], "digest");
    if (!IsDigest(digest)) return Wrong(name, "layer " + std::to_string(i + 1) + ": no sha256 digest");
    if (type.ends_with("+encrypted")) return Wrong(name, "layer " + std::to_string(i + 1) + " is encrypted");
    uint64_t size = 0;
    if (const auto found = layers[i].find("size"); found != layers[i].end() && found->is_number_unsigned())
      size = found->get<uint64_t>();
    layout.layers.push_back({BlobName(digest), diff_ids[i], digest, size});
  }
  return {};
}

}  // namespace

Result<Layout> ReadOciLayout(const ImageSource& source, const std::string& select) {
  ASSIGN_OR_RETURN(const std::string text, ReadDocument(source, "index.json", ""));
  ASSIGN_OR_RETURN(const Json index, ParseDocument("index.json", text));
  Collector collector(source);
  RETURN_IF_ERROR(collector.Collect("index.json", index, {}, 0));
  ASSIGN_OR_RETURN(Candidate chosen, Choose(collector.candidates(), select));
  const std::string name = IsDigest(chosen.digest) ? BlobName(chosen.digest) : "index.json";
  ASSIGN_OR_RETURN(const std::string manifest_text, ReadBlob(source, chosen.digest, "index.json"));
  ASSIGN_OR_RETURN(const Json manifest, ParseDocument(name, manifest_text));
  if (!manifest.is_object()) return Wrong(name, "no manifest of an image");
  const std::string config = Text(manifest.value("config", Json::object()), "digest");
  ASSIGN_OR_RETURN(const std::string config_text, ReadBlob(source, config, name));
  Layout layout;
  layout.record.kind = runtime::RootKind::kOciLayout;
  layout.record.references = std::move(chosen.references);
  layout.record.config_digest = config;
  ASSIGN_OR_RETURN(const auto diff_ids, ReadConfig(BlobName(config), config_text, layout.record));
  RETURN_IF_ERROR(ReadLayers(name, manifest, diff_ids, layout));
  for (const LayerFile& layer : layout.layers)
    if (!source.Has(layer.name)) return Wrong(name, "layer " + layer.digest + " is not in the layout");
  return layout;
}

}  // namespace tfemu::unpack
