// Walks every conformance table of tests/golden/tables: a row more needs no code, a table more needs a
// runner.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "emulator/base/strings.h"
#include "tests/golden/table.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

TEST_CASE("every row of every table holds") {
  size_t total = 0;
  for (const Table& table : Tables()) {
    const auto rows = ReadRows("tables/" + table.file, table.columns);
    for (const Row& row : rows) {
      const std::string shown = Join(row, " | ");
      INFO(table.file << ": " << shown);
      table.check(row);
    }
    total += rows.size();
    MESSAGE("tables/" << table.file << ": " << rows.size() << " rows");
  }
  MESSAGE("tables: " << Tables().size() << " files, " << total << " rows");
}

TEST_CASE("every table is walked by one runner") {
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/golden/tables"))) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".txt") || name == "fields.txt") continue;  // that one is fields_test's
    CHECK_MESSAGE(std::ranges::count(Tables(), name, &Table::file) == 1, name);
  }
}

}  // namespace
}  // namespace tfemu::test
