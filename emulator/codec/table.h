// Columns of text as kubectl lays them out.
#pragma once

#include <string>
#include <vector>

#include "emulator/api/printer.h"

namespace tfemu::codec {

struct TableOptions {
  bool header = true;
  bool wide = false;            // columns of priority 1 too
  bool with_namespace = false;  // a first column NAMESPACE
};

// Lays out whole tables; the widths of a watch come from its first output, as kubectl does it.
class TablePrinter {
 public:
  explicit TablePrinter(TableOptions options) : options_(options) {}
  // Rows of one table; the header stands before the first row only.
  std::string Format(const api::Table& table);

 private:
  std::vector<std::vector<std::string>> Cells(const api::Table& table, bool header) const;

  TableOptions options_;
  bool header_done_ = false;
  std::vector<size_t> widths_;
};

// Rows of cells, each column as wide as its widest cell and three blanks; the last is not padded.
std::string LayOut(const std::vector<std::vector<std::string>>& rows, size_t gap = 3);
// How many columns a terminal gives a UTF-8 text (East Asian wide letters take two).
size_t DisplayWidth(std::string_view text);

}  // namespace tfemu::codec
