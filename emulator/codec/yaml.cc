#include "emulator/codec/yaml.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "emulator/base/strings.h"
#include "emulator/codec/blanks.h"
#include "emulator/codec/yaml_builder.h"

namespace tfemu::codec {
namespace {

using nlohmann::json;

Error At(const std::string& file, int line, const std::string& message, std::string hint = {}) {
  std::string text = file + ":" + std::to_string(line) + ": " + message;
  if (const size_t at = hint.find("FILE"); at != std::string::npos && file != "-") hint.replace(at, 4, file);
  return Error{Reason::kInvalid, std::move(text), std::move(hint)};
}

int LineAt(std::string_view text, size_t offset) {
  return 1 + static_cast<int>(std::count(
                 text.begin(), text.begin() + static_cast<long>(std::min(offset, text.size())), '\n'));
}

// Bytes of the UTF-8 sequence at the beginning of `text`; 0 when it is none.
size_t SequenceSize(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  const size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  return size;
}

// Where `text` stops being UTF-8, or npos.
size_t FindForeignByte(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t size = SequenceSize(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

std::optional<Error> RefuseBinary(std::string_view text, const std::string& file) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return Error{Reason::kInvalid, file + ": the text is UTF-16, not UTF-8",
                 "convert it: iconv -f UTF-16 -t UTF-8 " + file};
  const size_t zero = text.find('\0');
  if (zero != std::string_view::npos)
    return At(file, LineAt(text, zero), "not YAML: the file is binary (it has a zero byte)");
  const size_t foreign = FindForeignByte(text);
  if (foreign != std::string_view::npos)
    return At(file, LineAt(text, foreign), "a byte that is not UTF-8 stands here",
              "save the file as UTF-8: iconv -f LATIN1 -t UTF-8 FILE");
  return std::nullopt;
}

// The first line from `from` backwards whose indentation holds a tab or a foreign blank: the likely culprit
// of a parser's complaint.
std::optional<Error> BlameIndentation(std::string_view text, const std::string& file, int last_line) {
  int line = 0;
  for (size_t begin = 0; begin < text.size() && line <= last_line;) {
    ++line;
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = text.substr(begin, end - begin);
    const size_t indent = std::min(row.find_first_not_of(" \t"), row.size());
    if (row.substr(0, indent).find('\t') != std::string_view::npos && indent < row.size() &&
        row[indent] != '#')
      return At(file, line, "a tab stands in the indentation; YAML takes only blanks there",
                "replace tabs by blanks: sed -i 's/\\t/  /g' FILE");
    if (const auto blank = MisplacedOddBlank(row))
      return At(file, line, "a " + blank->name + " stands where YAML needs an ordinary blank",
                "replace it with an ordinary blank");
    begin = end + 1;
  }
  return std::nullopt;
}

// JSON that YAML readers trip over (tabs, surrogate pairs); it has no lines then.
std::optional<std::vector<Document>> TryJson(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  if (!trimmed.starts_with('{') && !trimmed.starts_with('[')) return std::nullopt;
  json value = json::parse(trimmed, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  std::vector<Document> documents;
  documents.push_back({std::move(value), LineTree{1, {}, {}}});
  return documents;
}

Result<std::vector<Document>> ParseStream(std::string_view text, const std::string& file) {
  if (text.size() > kMaxYamlBytes)
    return Error{Reason::kInvalid,
                 file + ": the file has " + std::to_string(text.size() >> 20) + " MiB; a manifest may have " +
                     std::to_string(kMaxYamlBytes >> 20),
                 "split it into several files"};
  if (auto binary = RefuseBinary(text, file)) return *binary;
  YamlBuilder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.Take();
  } catch (const YamlProblem& problem) {
    return At(file, problem.line, problem.message, problem.hint);
  } catch (const YAML::Exception& error) {
    if (auto documents = TryJson(text)) return std::move(*documents);
    const int line = error.mark.line + 1;
    if (auto blamed = BlameIndentation(text, file, line)) return *blamed;
    return At(file, line, "not YAML: " + error.msg);
  }
}

bool IsList(const json& value) {
  return value.is_object() && value.contains("items") && value["items"].is_array() &&
         value.contains("kind") && value["kind"].is_string() &&
         value["kind"].get_ref<const std::string&>().ends_with("List");
}

void AppendExpanded(Document document, std::vector<Document>& out) {
  if (!IsList(document.value)) {
    out.push_back(std::move(document));
    return;
  }
  LineTree none{document.lines.line, {}, {}};
  const auto lines =
      std::ranges::find(document.lines.fields, "items", [](const auto& field) { return field.first; });
  json items = std::move(document.value["items"]);
  for (size_t i = 0; i < items.size(); ++i) {
    const bool known = lines != document.lines.fields.end() && i < lines->second.items.size();
    AppendExpanded({std::move(items[i]), known ? std::move(lines->second.items[i]) : none}, out);
  }
}

}  // namespace

Result<std::vector<Document>> ParseYaml(std::string_view text, const std::string& file_name) {
  ASSIGN_OR_RETURN(auto stream, ParseStream(text, file_name));
  std::vector<Document> documents;
  for (auto& document : stream) AppendExpanded(std::move(document), documents);
  for (const auto& document : documents)
    if (!document.value.is_object())
      return At(file_name, document.lines.line,
                "a manifest is a mapping (apiVersion, kind, metadata, ...), this is " +
                    std::string(document.value.is_array() ? "a list" : "a single value"));
  return documents;
}

Result<Document> ParseYamlDocument(std::string_view text, const std::string& file_name) {
  ASSIGN_OR_RETURN(auto stream, ParseStream(text, file_name));
  if (stream.size() > 1) return At(file_name, stream[1].lines.line, "only one document is taken here");
  if (stream.empty()) return Document{json::object(), LineTree{1, {}, {}}};
  return std::move(stream.front());
}

}  // namespace tfemu::codec
