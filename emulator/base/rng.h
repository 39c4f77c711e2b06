// Seeded randomness that gives the same bits on every standard library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tfemu {

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t Next();                         // SplitMix64
  uint64_t Below(uint64_t bound);          // bound > 0
  Rng Fork(std::string_view label) const;  // an independent stream: a new draw here moves none there
  std::string Uuid();                      // RFC 4122, version 4
  std::string Suffix(size_t length);       // in the alphabet of Kubernetes' generated names

 private:
  uint64_t state_;
};

uint64_t Fnv1a(std::string_view text, uint64_t hash = 14695981039346656037ull);

}  // namespace tfemu
