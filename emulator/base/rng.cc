#include "emulator/base/rng.h"

#include <cstdio>

#include "emulator/base/check.h"

namespace tfemu {

uint64_t Rng::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

uint64_t Rng::Below(uint64_t bound) {
  CHECK_THAT(bound > 0);
  return Next() % bound;
}

Rng Rng::Fork(std::string_view label) const { return Rng(Fnv1a(label, state_ ^ 14695981039346656037ull)); }

std::string Rng::Uuid() {
  const uint64_t high = (Next() & ~0xf000ull) | 0x4000ull;
  const uint64_t low = (Next() & ~(3ull << 62)) | (1ull << 63);
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>(high >> 16) & 0xffffu, static_cast<unsigned>(high) & 0xffffu,
                static_cast<unsigned>(low >> 48), static_cast<unsigned long long>(low & 0xffffffffffffull));
  return text;
}

std::string Rng::Suffix(size_t length) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";  // apimachinery util/rand
  std::string text;
  for (size_t i = 0; i < length; ++i) text += kAlphabet[Below(kAlphabet.size())];
  return text;
}

uint64_t Fnv1a(std::string_view text, uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return hash;
}

}  // namespace tfemu
