// What a container would see of its image, without mounting anything: the layers, whiteouts and links
// resolved.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tfemu::image {

class LayeredView {
 public:
  // The lowest layer first, as in runtime::Root.
  explicit LayeredView(std::vector<std::string> layers) : layers_(layers.rbegin(), layers.rend()) {}

  // Where the file is that `path` leads to, symbolic links followed; nothing when there is none.
  std::optional<std::string> Find(const std::string& path) const;
  // "" when there is no such file.
  std::string Read(const std::string& path, size_t most = 1 << 20) const;

 private:
  std::optional<std::string> FindExact(const std::string& relative) const;

  std::vector<std::string> layers_;  // the highest first
};

}  // namespace tfemu::image
