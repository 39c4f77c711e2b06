// The files that an image is handed over in, by name: members of a tar, or a folder.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/unpack/byte_stream.h"

namespace tfemu::unpack {

class ImageSource {
 public:
  virtual ~ImageSource() = default;
  virtual bool Has(const std::string& name) const = 0;
  // Packed size; 0 when there is none of that name.
  virtual uint64_t SizeOf(const std::string& name) const = 0;
  // kNotFound when there is none of that name. The stream must not outlive the source.
  virtual Result<std::unique_ptr<ByteStream>> Open(const std::string& name) const = 0;
};

// An OCI layout that is not packed. No symbolic link is followed.
class FolderSource final : public ImageSource {
 public:
  explicit FolderSource(UniqueFd folder) : folder_(std::move(folder)) {}
  bool Has(const std::string& name) const override;
  uint64_t SizeOf(const std::string& name) const override;
  Result<std::unique_ptr<ByteStream>> Open(const std::string& name) const override;

 private:
  UniqueFd OpenFile(const std::string& name) const;
  UniqueFd folder_;
};

class TarSource final : public ImageSource {
 public:
  // Null when the tar holds a root file system and no image. `scratch` is a folder to unpack a compressed tar
  // to, for members are read in any order; nothing stays in it.
  static Result<std::unique_ptr<TarSource>> Open(UniqueFd file, const std::string& scratch, uint64_t most);
  bool Has(const std::string& name) const override;
  uint64_t SizeOf(const std::string& name) const override;
  Result<std::unique_ptr<ByteStream>> Open(const std::string& name) const override;

 private:
  struct Member {
    uint64_t size = 0;
    std::string link;  // the member that it is another name of
  };
  explicit TarSource(UniqueFd file) : file_(std::move(file)) {}
  struct Found {
    bool image = false, compressed = false;
  };
  Result<Found> Scan();
  const Member* Find(std::string& name) const;

  UniqueFd file_;
  std::map<std::string, Member> members_;
};

// "a/./b" is "a/b"; nothing when the path leaves its root or is absolute.
std::optional<std::string> CleanPath(const std::string& path);

}  // namespace tfemu::unpack
