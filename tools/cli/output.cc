#include "tools/cli/output.h"

#include <nlohmann/json.hpp>

#include "emulator/api/printer.h"
#include "emulator/api/view.h"
#include "emulator/base/strings.h"
#include "emulator/codec/yaml_writer.h"
#include "tools/cli/targets.h"

namespace tfemu::cli {
namespace {

using Type = OutputFormat::Type;

std::string Format(const OutputFormat& format, const api::Json& doc) {
  switch (format.type) {
    case Type::kYaml: return codec::WriteYaml(doc);
    case Type::kJson: return doc.dump(4, ' ', false, api::Json::error_handler_t::replace) + "\n";
    case Type::kJsonPath: return format.path->Format(doc);
    case Type::kName:
    case Type::kTable:
    case Type::kWide: return {};
  }
  return {};
}

std::string NameLine(const api::Object& object) {
  const auto* kind = api::FindKind(object.key().kind);
  return (kind == nullptr ? object.key().name : DisplayName(*kind, object.key().name)) + "\n";
}

std::string FormatLabels(const api::Object& object) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : api::LabelsOf(object)) parts.push_back(key + "=" + value);
  return parts.empty() ? "<none>" : Join(parts, ",");
}

}  // namespace

Result<OutputFormat> ParseOutputFormat(const std::string& text) {
  if (text.empty()) return OutputFormat{};
  if (text == "wide") return OutputFormat{Type::kWide};
  if (text == "yaml") return OutputFormat{Type::kYaml};
  if (text == "json") return OutputFormat{Type::kJson};
  if (text == "name") return OutputFormat{Type::kName};
  constexpr std::string_view kPath = "jsonpath=";
  if (text.starts_with(kPath)) {
    ASSIGN_OR_RETURN(auto path, codec::ParseJsonPath(text.substr(kPath.size())));
    return OutputFormat{Type::kJsonPath, std::move(path)};
  }
  const std::string closest = Closest(text, {"wide", "yaml", "json", "name"});
  return Error{Reason::kBadRequest, "unknown output form \"" + text + "\"",
               closest.empty() ? "the forms are: wide, yaml, json, name, jsonpath=TEMPLATE"
                               : "did you mean \"" + closest + "\"?"};
}

std::string FormatDocument(const OutputFormat& format, const api::Object& object) {
  return format.type == Type::kName ? NameLine(object) : Format(format, object.doc());
}

std::string FormatList(const OutputFormat& format, const std::vector<api::Object>& objects) {
  if (format.type != Type::kName) return Format(format, api::MakeList(objects));
  std::string text;
  for (const auto& object : objects) text += NameLine(object);
  return text;
}

KindTable::KindTable(const api::Kind& kind, const Options& options)
    : kind_(kind),
      options_(options),
      printer_({.header = options.header, .wide = options.wide, .with_namespace = options.with_namespace}) {}

std::string KindTable::Format(const std::vector<api::Object>& objects, Instant now) {
  api::Table table = api::PrintTable(kind_.kind, objects, now);
  if (options_.kind_prefix)
    for (auto& row : table.rows) row.cells.front() = DisplayName(kind_, row.cells.front());
  if (options_.labels) {
    table.columns.push_back({"Labels"});
    for (size_t i = 0; i < objects.size(); ++i) table.rows[i].cells.push_back(FormatLabels(objects[i]));
  }
  return printer_.Format(table);
}

}  // namespace tfemu::cli
