// What an image reference of a manifest runs on this host.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "emulator/base/result.h"
#include "runtime/runtime.h"

namespace tfemu::runtime {

enum class RootKind { kHost, kFolder, kTar, kDockerArchive, kOciLayout };
const char* ToString(RootKind kind);  // "host", "folder", "tar", "docker-archive", "oci"

// A layer of an archive, once it is unpacked.
struct ImageLayer {
  std::string diff_id;  // of its tar, "sha256:…"
  std::string digest;   // as it was packed
  uint64_t packed_bytes = 0, unpacked_bytes = 0, entries = 0;
};

// What an archive may unpack to; zeros stand for defaults.
struct UnpackLimits {
  uint64_t bytes = 0, entries = 0, ratio = 0;
};

struct Image {
  std::string folder;                   // absolute; where its image.yaml stands
  std::vector<std::string> references;  // patterns it answers to, as GlobMatch reads them
  Root root;
  std::string requirements;  // absolute path of a pip requirements file, or ""
  std::map<std::string, std::string> env;
  std::vector<std::string> entrypoint, cmd;
  std::string working_dir = "/";
  std::string user;  // "", or as in an image's configuration: uid, uid:gid, or names of its /etc/passwd
  uint64_t size_bytes = 0;  // for modelling a pull; 0 when not given
  // "sha256:…": of the archive's configuration; else over image.yaml, requirements and layer paths.
  std::string id;

  // An image whose root is an archive. All but the first three lines are known only once it is unpacked.
  RootKind root_kind = RootKind::kHost;
  std::string archive;  // absolute; "" when the root is no archive
  std::string select;   // the tag to take of an archive with several images
  UnpackLimits limits;
  bool unpacked = false;
  std::vector<ImageLayer> archive_layers;
  std::vector<std::string> archive_references, notes;
  std::string architecture;
  std::map<std::string, std::string> labels;
};

// Progress of Prepare: `done` of `total` steps, with a sentence for people. total may be 0 (unknown).
struct PrepareProgress {
  int done = 0, total = 0;
  std::string text;
};

class ImageCatalog {
 public:
  virtual ~ImageCatalog() = default;
  // kNotFound names the folders searched, with a ready-to-paste image.yaml in the hint.
  virtual Result<Image> Find(const std::string& reference) const = 0;
  virtual std::vector<Image> List() const = 0;
  // True when Prepare has nothing to do.
  virtual bool Ready(const Image& image) const = 0;
  // Makes what the image needs (its python environment), once however many ask; `done` is posted.
  virtual void Prepare(const Image& image, std::function<void(const PrepareProgress&)> progress,
                       std::function<void(Result<void>)> done) = 0;
};

}  // namespace tfemu::runtime
