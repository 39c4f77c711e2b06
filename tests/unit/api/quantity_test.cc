// Quantities: reading and writing them.
#include "emulator/api/quantity.h"

#include <doctest/doctest.h>

namespace tfemu::api {
namespace {

TEST_CASE("quantities are read as Kubernetes writes them") {
  const struct {
    const char* text;
    int64_t milli;
  } kCases[] = {{"0", 0},
                {"1", 1000},
                {"500m", 500},
                {"0.5", 500},
                {"1e3", 1'000'000},
                {"1k", 1'000'000},
                {"1Ki", 1'024'000},
                {"4Gi", 4'294'967'296'000},
                {"10G", 10'000'000'000'000},
                {"100n", 1},
                {"-2", -2000},
                {"1.5Gi", 1'610'612'736'000}};
  for (const auto& c : kCases) {
    INFO(c.text);
    const auto quantity = ParseQuantity(c.text);
    REQUIRE(quantity.has_value());
    CHECK(quantity->milli == c.milli);
  }
}

TEST_CASE("what is no quantity is refused") {
  for (const char* text : {"", "abc", "1KiB", "1 Gi", "0x10", "--1", "1e400", "inf", "1GB"}) {
    INFO(text);
    CHECK_FALSE(ParseQuantity(text).has_value());
  }
}

TEST_CASE("quantities are written canonically") {
  CHECK(FormatQuantity({5'368'709'120'000}, true) == "5Gi");
  CHECK(FormatQuantity({1'500}, false) == "1500m");
  CHECK(FormatQuantity({3'000}, false) == "3");
  CHECK(FormatQuantity({0}, true) == "0");
}

}  // namespace
}  // namespace tfemu::api
