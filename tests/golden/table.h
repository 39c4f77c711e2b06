// The conformance tables of tests/golden/tables: a row a line, cells between "|", comments after "#".
#pragma once

#include <string>
#include <vector>

namespace tfemu::test {

using Row = std::vector<std::string>;

// `path` is below tests/golden. Fails the test when there are no rows, or one with another number of cells.
std::vector<Row> ReadRows(const std::string& path, size_t columns);

struct Table {
  std::string file;  // in tests/golden/tables
  size_t columns;
  void (*check)(const Row&);
};

// At namespace scope: says what checks the rows of a table.
class TableRunner {
 public:
  TableRunner(const char* file, size_t columns, void (*check)(const Row&));
};

const std::vector<Table>& Tables();

}  // namespace tfemu::test
