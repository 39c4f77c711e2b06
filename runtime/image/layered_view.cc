#include "runtime/image/layered_view.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <deque>
#include <filesystem>
#include <fstream>

#include "emulator/base/strings.h"

namespace tfemu::image {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;

enum class Sight { kThere, kHidden, kNotHere };

// One layer's word about a path: a whiteout, a file in its way or an opaque folder hide what is below.
Sight Look(const std::string& layer, const std::string& relative) {
  bool opaque = false;
  std::string path = layer;
  for (const auto& part : Split(relative, '/')) {
    char value = 0;
    opaque = opaque || (::lgetxattr(path.c_str(), "trusted.overlay.opaque", &value, 1) == 1 && value == 'y');
    path += "/" + part;
    struct stat status {};
    if (::lstat(path.c_str(), &status)) {
      if (errno == ENOTDIR) return Sight::kHidden;
      return opaque ? Sight::kHidden : Sight::kNotHere;
    }
    if (S_ISCHR(status.st_mode) && status.st_rdev == 0) return Sight::kHidden;
  }
  return Sight::kThere;
}

}  // namespace

std::optional<std::string> LayeredView::FindExact(const std::string& relative) const {
  for (const std::string& layer : layers_) {
    const Sight sight = Look(layer, relative);
    if (sight == Sight::kThere) return layer + "/" + relative;
    if (sight == Sight::kHidden) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> LayeredView::Find(const std::string& path) const {
  std::deque<std::string> rest;
  const auto push = [&rest](const std::string& text) {
    const auto parts = Split(text, '/');
    rest.insert(rest.begin(), parts.begin(), parts.end());
  };
  push(path);
  std::vector<std::string> so_far;
  std::optional<std::string> found = layers_.empty() ? std::nullopt : std::optional(layers_.front());
  for (int links = 0; !rest.empty();) {
    const std::string part = rest.front();
    rest.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!so_far.empty()) so_far.pop_back();
      continue;
    }
    so_far.push_back(part);
    found = FindExact(Join(so_far, "/"));
    if (!found) return std::nullopt;
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(*found, error))) continue;
    if (++links > kMaxLinks) return std::nullopt;
    const std::string target = fs::read_symlink(*found, error).string();
    so_far.pop_back();
    if (target.starts_with('/')) so_far.clear();
    push(target);
  }
  return found;
}

std::string LayeredView::Read(const std::string& path, size_t most) const {
  const auto place = Find(path);
  std::error_code error;
  if (!place || !fs::is_regular_file(*place, error)) return "";
  std::ifstream file(*place, std::ios::binary);
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

}  // namespace tfemu::image
