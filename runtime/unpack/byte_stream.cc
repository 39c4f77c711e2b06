#include "runtime/unpack/byte_stream.h"

#include <errno.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

namespace tfemu::unpack {
namespace {

constexpr size_t kTarBlock = 512;

int64_t SizeOf(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? status.st_size : 0;
}

}  // namespace

FileStream::FileStream(int fd) : fd_(fd), size_(SizeOf(fd)) {}

FileStream::FileStream(UniqueFd fd) : owned_(std::move(fd)), fd_(owned_.get()), size_(SizeOf(fd_)) {}

Result<size_t> FileStream::Read(char* buffer, size_t size) {
  ssize_t got = 0;
  do got = ::pread(fd_, buffer, size, at_);
  while (got < 0 && errno == EINTR);
  if (got < 0) return Error{.message = std::string("read: ") + ::strerror(errno)};
  at_ += got;
  return static_cast<size_t>(got);
}

int64_t FileStream::Skip(int64_t count) {
  const int64_t skipped = std::clamp<int64_t>(count, 0, std::max<int64_t>(size_ - at_, 0));
  at_ += skipped;
  return skipped;
}

struct HashingStream::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

HashingStream::HashingStream(ByteStream& from, OnRead on_read, bool hash)
    : from_(from), on_read_(std::move(on_read)), hash_(hash), state_(std::make_unique<State>()) {
  EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr);
}

HashingStream::~HashingStream() = default;

Result<size_t> HashingStream::Read(char* buffer, size_t size) {
  ASSIGN_OR_RETURN(const size_t got, from_.Read(buffer, size));
  if (hash_) EVP_DigestUpdate(state_->context, buffer, got);
  count_ += got;
  if (on_read_) RETURN_IF_ERROR(on_read_(count_));
  tail_.append(buffer + got - std::min(got, kTarBlock), std::min(got, kTarBlock));
  if (tail_.size() > kTarBlock) tail_.erase(0, tail_.size() - kTarBlock);
  return got;
}

std::string HashingStream::Digest() {
  if (!hash_) return "";
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(state_->context, digest, &size);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string hex = "sha256:";
  for (unsigned i = 0; i < size; ++i) hex.append({kHex[digest[i] >> 4], kHex[digest[i] & 15]});
  return hex;
}

bool HashingStream::EndsWithZeros() const {
  return tail_.size() == kTarBlock && tail_.find_first_not_of('\0') == tail_.npos;
}

Result<void> Drain(ByteStream& stream) {
  std::vector<char> buffer(256 << 10);
  for (;;) {
    ASSIGN_OR_RETURN(const size_t got, stream.Read(buffer.data(), buffer.size()));
    if (got == 0) return {};
  }
}

Result<std::string> ReadAll(ByteStream& stream, size_t most, const std::string& what) {
  std::string text;
  for (char buffer[16384];;) {
    ASSIGN_OR_RETURN(const size_t got, stream.Read(buffer, sizeof buffer));
    if (got == 0) return text;
    text.append(buffer, got);
    if (text.size() > most)
      return Error{.reason = Reason::kInvalid,
                   .message = what + " is longer than " + std::to_string(most >> 20) + " MiB"};
  }
}

}  // namespace tfemu::unpack
