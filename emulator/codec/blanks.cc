#include "emulator/codec/blanks.h"

#include <array>
#include <utility>

namespace tfemu::codec {
namespace {

using Row = std::pair<std::string_view, std::string_view>;
constexpr std::array<Row, 20> kOddBlanks = {{
    {"\xC2\xA0", "non-breaking space (U+00A0)"},
    {"\xC2\x85", "next line (U+0085)"},
    {"\xE1\x9A\x80", "ogham space mark (U+1680)"},
    {"\xE2\x80\x80", "en quad (U+2000)"},
    {"\xE2\x80\x81", "em quad (U+2001)"},
    {"\xE2\x80\x82", "en space (U+2002)"},
    {"\xE2\x80\x83", "em space (U+2003)"},
    {"\xE2\x80\x84", "three-per-em space (U+2004)"},
    {"\xE2\x80\x85", "four-per-em space (U+2005)"},
    {"\xE2\x80\x86", "six-per-em space (U+2006)"},
    {"\xE2\x80\x87", "figure space (U+2007)"},
    {"\xE2\x80\x88", "punctuation space (U+2008)"},
    {"\xE2\x80\x89", "thin space (U+2009)"},
    {"\xE2\x80\x8A", "hair space (U+200A)"},
    {"\xE2\x80\x8B", "zero-width space (U+200B)"},
    {"\xE2\x80\xAF", "narrow non-breaking space (U+202F)"},
    {"\xE2\x81\x9F", "medium mathematical space (U+205F)"},
    {"\xE2\x81\xA0", "word joiner (U+2060)"},
    {"\xE3\x80\x80", "ideographic space (U+3000)"},
    {"\xEF\xBB\xBF", "zero-width non-breaking space (U+FEFF)"},
}};

}  // namespace

std::optional<OddBlank> OddBlankAt(std::string_view text) {
  for (const auto& [bytes, name] : kOddBlanks)
    if (text.starts_with(bytes)) return OddBlank{0, std::string(name), std::string(bytes)};
  return std::nullopt;
}

std::optional<OddBlank> FindOddBlank(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (static_cast<unsigned char>(text[at]) < 0x80) continue;
    if (auto found = OddBlankAt(text.substr(at))) {
      found->at = at;
      return found;
    }
  }
  return std::nullopt;
}

std::optional<OddBlank> MisplacedOddBlank(std::string_view text) {
  for (size_t from = 0; from < text.size();) {
    auto found = FindOddBlank(text.substr(from));
    if (!found) return std::nullopt;
    found->at += from;
    const size_t end = found->at + found->bytes.size();
    const char before = found->at == 0 ? ' ' : text[found->at - 1];
    if (found->at == 0 || end == text.size() || before == ':' || before == '-') return found;
    from = end;
  }
  return std::nullopt;
}

}  // namespace tfemu::codec
