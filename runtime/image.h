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

struct Image {
  std::string folder;                   // absolute; where its image.yaml stands
  std::vector<std::string> references;  // patterns it answers to, as GlobMatch reads them
  Root root;
  std::string requirements;  // absolute path of a pip requirements file, or ""
  std::map<std::string, std::string> env;
  std::vector<std::string> entrypoint, cmd;
  std::string working_dir = "/";
  uint64_t size_bytes = 0;  // for modelling a pull; 0 when not given
  std::string id;           // "sha256:…", over image.yaml, requirements and layer paths
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
