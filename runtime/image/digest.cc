// OpenSSL's.
#include "runtime/image/digest.h"

#include <openssl/sha.h>

namespace tfemu::image {

std::string Sha256(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) hex.append({kHex[byte >> 4], kHex[byte & 15]});
  return hex;
}

}  // namespace tfemu::image
