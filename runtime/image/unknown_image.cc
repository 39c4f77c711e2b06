// The text of a refusal that should leave nobody wondering what to do next.
#include "runtime/image/unknown_image.h"

#include <algorithm>

#include "emulator/base/strings.h"

namespace tfemu::image {
namespace {

std::string LastComponent(std::string reference) {
  const size_t slash = reference.rfind('/');
  if (slash != reference.npos) reference = reference.substr(slash + 1);
  return reference.substr(0, reference.find_first_of(":@"));
}

// Patterns whose last component is the reference's, or nearly.
std::vector<std::string> Near(const UnknownImage& unknown) {
  std::vector<std::string> near;
  const std::string name = LastComponent(unknown.reference);
  for (const std::string& pattern : unknown.known) {
    const std::string other = LastComponent(pattern);
    if (EditDistance(name, other) <= std::max<size_t>(1, name.size() / 4)) near.push_back(pattern);
  }
  return near;
}

std::string WithAnyTag(const std::string& reference) {
  std::string repository = reference.substr(0, reference.find('@'));
  const size_t colon = repository.rfind(':');
  const size_t slash = repository.rfind('/');
  if (colon != repository.npos && (slash == repository.npos || colon > slash)) repository.resize(colon);
  return repository + ":*";
}

}  // namespace

Error Describe(const UnknownImage& unknown) {
  Error error{.reason = Reason::kNotFound,
              .message = "image \"" + unknown.reference + "\" is not known here"};
  error.message +=
      unknown.folders.empty() ? "; there are no image folders" : "; searched " + Join(unknown.folders, ", ");
  for (const std::string& problem : unknown.problems) error.message += "; not readable: " + problem;
  if (const auto near = Near(unknown); !near.empty()) error.hint = "near it: " + Join(near, ", ") + "\n";
  const std::string place = unknown.folders.empty() ? "images" : unknown.folders.front();
  error.hint +=
      "say what it shall run here, in " + place + "/" + LastComponent(unknown.reference) + "/image.yaml:\n" +
      "references: [\"" + WithAnyTag(unknown.reference) + "\"]\n" +
      "root: host                 # this host's own root, read-only\n" +
      "# layers: [rootfs]         # a folder beside image.yaml laid over it, such as rootfs/app/main.py\n" +
      "# python: {requirements: requirements.txt}\n" + "env: {}\n" + "workingDir: /";
  return error;
}

}  // namespace tfemu::image
