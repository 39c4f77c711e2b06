#include "runtime/unpack/image_source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <vector>

#include "emulator/base/strings.h"
#include "runtime/unpack/archive_reader.h"

namespace tfemu::unpack {
namespace {

constexpr size_t kMaxMembers = 100'000;
constexpr int kMaxLinks = 8;

bool IsHex64(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// Names that docker save, podman save and OCI layouts have at their top; a root file system has others.
bool BelongsToImage(const std::string& name) {
  const std::string top = name.substr(0, name.find('/'));
  static constexpr std::string_view kTops[] = {"manifest.json", "repositories", "index.json", "oci-layout",
                                               "blobs"};
  if (std::ranges::find(kTops, top) != std::end(kTops)) return true;
  if (IsHex64(top)) return true;
  for (const std::string_view end : {".json", ".tar", ".tar.gz"})
    if (top.ends_with(end) && IsHex64(std::string_view(top).substr(0, top.size() - end.size()))) return true;
  return top.starts_with("sha256:") && IsHex64(std::string_view(top).substr(7));
}

Error Missing(const std::string& name) {
  return {.reason = Reason::kNotFound, .message = "there is no " + name + " in it"};
}

// A member of a tar, at the cost of walking to it.
class MemberStream final : public ByteStream {
 public:
  static Result<std::unique_ptr<ByteStream>> Open(int file, const std::string& name) {
    auto stream = std::make_unique<MemberStream>(file);
    ASSIGN_OR_RETURN(stream->reader_, ArchiveReader::Open(stream->file_, Decoding::kTar));
    for (;;) {
      ASSIGN_OR_RETURN(archive_entry * entry, stream->reader_->Next());
      if (!entry) return Missing(name);
      if (CleanPath(archive_entry_pathname(entry)) != name) continue;
      if (archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry)) break;
    }
    return std::unique_ptr<ByteStream>(std::move(stream));
  }
  explicit MemberStream(int file) : file_(file) {}
  Result<size_t> Read(char* buffer, size_t size) override { return reader_->ReadData(buffer, size); }

 private:
  FileStream file_;
  std::unique_ptr<ArchiveReader> reader_;
};

// Into a file that nobody else can name.
Result<UniqueFd> Decompress(const UniqueFd& file, const std::string& scratch, uint64_t most) {
  UniqueFd out(::open(scratch.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!out.valid()) return Error{.message = "cannot write in " + scratch + ": " + ::strerror(errno)};
  FileStream packed(file.get());
  ASSIGN_OR_RETURN(auto plain, FilterStream::Open(packed));
  std::vector<char> buffer(256 << 10);
  for (uint64_t total = 0;;) {
    ASSIGN_OR_RETURN(const size_t got, plain->Read(buffer.data(), buffer.size()));
    if (got == 0) return out;
    total += got;
    if (total > most)
      return Error{.reason = Reason::kInvalid,
                   .message = "it unpacks to more than " + std::to_string(most) + " bytes",
                   .hint = "if you trust it, raise limits.bytes in its image.yaml"};
    for (size_t done = 0; done < got;) {
      const ssize_t wrote = ::write(out.get(), buffer.data() + done, got - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return Error{.message = "cannot write in " + scratch + ": " + ::strerror(errno)};
      done += static_cast<size_t>(wrote);
    }
  }
}

}  // namespace

std::optional<std::string> CleanPath(const std::string& path) {
  if (path.starts_with('/')) return std::nullopt;
  std::vector<std::string> parts;
  for (auto& part : Split(path, '/')) {
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") parts.push_back(std::move(part));
  }
  return Join(parts, "/");
}

UniqueFd FolderSource::OpenFile(const std::string& name) const {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, folder_.get(), name.c_str(), &how, sizeof how)));
  struct stat status {};
  if (fd.valid() && (::fstat(fd.get(), &status) || !S_ISREG(status.st_mode))) fd.Reset();
  return fd;
}

bool FolderSource::Has(const std::string& name) const { return OpenFile(name).valid(); }

uint64_t FolderSource::SizeOf(const std::string& name) const {
  const UniqueFd fd = OpenFile(name);
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status)) return 0;
  return static_cast<uint64_t>(status.st_size);
}

Result<std::unique_ptr<ByteStream>> FolderSource::Open(const std::string& name) const {
  UniqueFd fd = OpenFile(name);
  if (!fd.valid()) return Missing(name);
  return std::unique_ptr<ByteStream>(std::make_unique<FileStream>(std::move(fd)));
}

Result<std::unique_ptr<TarSource>> TarSource::Open(UniqueFd file, const std::string& scratch, uint64_t most) {
  std::unique_ptr<TarSource> source(new TarSource(std::move(file)));
  ASSIGN_OR_RETURN(Found found, source->Scan());
  if (!found.image) return std::unique_ptr<TarSource>();
  if (!found.compressed) return source;
  ASSIGN_OR_RETURN(source->file_, Decompress(source->file_, scratch, most));
  source->members_.clear();
  ASSIGN_OR_RETURN(found, source->Scan());
  return source;
}

Result<TarSource::Found> TarSource::Scan() {
  FileStream stream(file_.get());
  ASSIGN_OR_RETURN(auto reader, ArchiveReader::Open(stream, Decoding::kCompressedTar));
  for (;;) {
    ASSIGN_OR_RETURN(archive_entry * entry, reader->Next());
    if (!entry) break;
    const auto name = CleanPath(archive_entry_pathname(entry));
    if (!name || (!name->empty() && !BelongsToImage(*name))) return Found{false, reader->compressed()};
    if (name->empty()) continue;
    if (members_.size() > kMaxMembers)
      return Error{Reason::kInvalid, "it has more than " + std::to_string(kMaxMembers) + " members"};
    Member member;
    if (const char* other = archive_entry_hardlink(entry)) member.link = other;
    else if (archive_entry_filetype(entry) == AE_IFLNK)
      member.link = *name + "/../" + archive_entry_symlink(entry);
    else if (archive_entry_filetype(entry) != AE_IFREG) continue;
    else member.size = static_cast<uint64_t>(std::max<int64_t>(archive_entry_size(entry), 0));
    members_[*name] = std::move(member);
  }
  return Found{!members_.empty(), reader->compressed()};
}

const TarSource::Member* TarSource::Find(std::string& name) const {
  for (int links = 0; links < kMaxLinks; ++links) {
    const auto found = members_.find(name);
    if (found == members_.end()) return nullptr;
    if (found->second.link.empty()) return &found->second;
    std::vector<std::string> parts;  // docker's older archives have one layer under several names
    for (const auto& part : Split(found->second.link, '/')) {
      if (part.empty() || part == ".") continue;
      if (part != "..") parts.push_back(part);
      else if (parts.empty()) return nullptr;
      else parts.pop_back();
    }
    name = Join(parts, "/");
  }
  return nullptr;
}

bool TarSource::Has(const std::string& name) const {
  std::string real = name;
  return Find(real) != nullptr;
}

uint64_t TarSource::SizeOf(const std::string& name) const {
  std::string real = name;
  const Member* member = Find(real);
  return member ? member->size : 0;
}

Result<std::unique_ptr<ByteStream>> TarSource::Open(const std::string& name) const {
  std::string real = name;
  if (!Find(real)) return Missing(name);
  return MemberStream::Open(file_.get(), real);
}

}  // namespace tfemu::unpack
