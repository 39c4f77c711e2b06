#include "emulator/codec/table.h"

#include <algorithm>
#include <cctype>

namespace tfemu::codec {
namespace {

std::string Upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

// A cell is one line: a text is cut at its first newline.
std::string OneLine(const std::string& text) {
  const size_t end = text.find_first_of("\r\n");
  return end == std::string::npos ? text : text.substr(0, end) + "...";
}

std::string LayOutWith(const std::vector<std::vector<std::string>>& rows, const std::vector<size_t>& widths,
                       size_t gap) {
  std::string out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      const size_t width = DisplayWidth(row[i]);
      if (i + 1 < row.size()) out.append(std::max(widths[i], width) - width + gap, ' ');
    }
    out += '\n';
  }
  return out;
}

void Widen(std::vector<size_t>& widths, const std::vector<std::vector<std::string>>& rows) {
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
}

bool IsWide(uint32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1F64F) || (c >= 0x20000 && c <= 0x3FFFD);
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t size = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    uint32_t point = size == 1 ? lead : lead & (0xFFu >> (size + 1));
    for (size_t j = 1; j < size && i + j < text.size(); ++j)
      point = (point << 6) | (static_cast<unsigned char>(text[i + j]) & 0x3F);
    width += IsWide(point) ? 2 : 1;
    i += size;
  }
  return width;
}

std::string LayOut(const std::vector<std::vector<std::string>>& rows, size_t gap) {
  std::vector<size_t> widths;
  Widen(widths, rows);
  return LayOutWith(rows, widths, gap);
}

std::vector<std::vector<std::string>> TablePrinter::Cells(const api::Table& table, bool header) const {
  std::vector<std::vector<std::string>> rows;
  const auto shown = [&](size_t column) { return options_.wide || !table.columns[column].wide; };
  if (header) {
    auto& row = rows.emplace_back();
    if (options_.with_namespace) row.push_back("NAMESPACE");
    for (size_t i = 0; i < table.columns.size(); ++i)
      if (shown(i)) row.push_back(Upper(table.columns[i].name));
  }
  for (const auto& source : table.rows) {
    auto& row = rows.emplace_back();
    if (options_.with_namespace) row.push_back(source.ns);
    for (size_t i = 0; i < source.cells.size(); ++i)
      if (shown(i)) row.push_back(OneLine(source.cells[i]));
  }
  return rows;
}

std::string TablePrinter::Format(const api::Table& table) {
  if (table.rows.empty()) return {};
  const auto rows = Cells(table, options_.header && !header_done_);
  header_done_ = true;
  Widen(widths_, rows);
  return LayOutWith(rows, widths_, 3);
}

}  // namespace tfemu::codec
