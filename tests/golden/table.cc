#include "tests/golden/table.h"

#include <doctest/doctest.h>

#include <sstream>

#include "emulator/base/strings.h"
#include "tests/support/world.h"

namespace tfemu::test {
namespace {

std::vector<Table>& Registered() {
  static std::vector<Table> tables;
  return tables;
}

}  // namespace

std::vector<Row> ReadRows(const std::string& path, size_t columns) {
  std::vector<Row> rows;
  std::istringstream text(ReadFile(SourcePath("tests/golden/" + path)));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.starts_with("#")) continue;
    Row row;
    for (const std::string& cell : Split(line, '|')) row.emplace_back(Trim(cell));
    REQUIRE_MESSAGE(row.size() == columns, path << ": " << line);
    rows.push_back(std::move(row));
  }
  REQUIRE_MESSAGE(!rows.empty(), path);
  return rows;
}

TableRunner::TableRunner(const char* file, size_t columns, void (*check)(const Row&)) {
  Registered().push_back({file, columns, check});
}

const std::vector<Table>& Tables() { return Registered(); }

}  // namespace tfemu::test
