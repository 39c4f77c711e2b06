#include "tests/support/any_image.h"

#include "emulator/base/rng.h"

namespace tfemu::test {

Result<runtime::Image> AnyImage::Find(const std::string& reference) const {
  if (reference.find("/unknown:") != std::string::npos)
    return Error{Reason::kNotFound, "image " + reference + " is not in any image folder"};
  runtime::Image image;
  image.folder = "/images/any";
  image.entrypoint = {"/entrypoint"};
  image.size_bytes = 100'000'000;
  image.id = "sha256:" + std::to_string(Fnv1a(reference));
  return image;
}

}  // namespace tfemu::test
