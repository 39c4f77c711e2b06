// Reading documents for printing: everything may be absent or of the wrong type, and prints as nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "emulator/api/object.h"
#include "emulator/api/printer.h"
#include "emulator/base/executor.h"

namespace tfemu::api {

// The value at a dotted path, or a null.
const Json& Field(const Json& doc, std::string_view path);
std::string FieldText(const Json& doc, std::string_view path);  // numbers and booleans as text, else ""
int64_t FieldInt(const Json& doc, std::string_view path);       // 0 when absent
// The items of a list, of nothing when it is none.
const Json& FieldList(const Json& doc, std::string_view path);

std::string TextOr(std::string text, std::string_view fallback);
std::string AgeSince(const std::string& time, Instant now);  // "<unknown>" without a time
std::string AgeOf(const Json& doc, Instant now);
std::string JoinLabels(const Json& labels, std::string_view separator);  // "a=b,c=d", "<none>"
std::string FormatAccessModes(const Json& modes);                        // "RWO,RWX"
// The names (or images) of a pod template's containers, separated by commas.
std::string ContainerColumn(const Json& doc, std::string_view template_path, std::string_view field);

using RowPrinter = std::vector<std::string> (*)(const Json& doc, Instant now);
struct KindPrinter {
  std::string_view kind;
  std::vector<Column> columns;
  RowPrinter print;
};

std::vector<std::string> PrintPod(const Json& pod, Instant now);
std::vector<std::string> PrintNode(const Json& node, Instant now);
std::vector<std::string> PrintService(const Json& service, Instant now);
std::vector<std::string> PrintEvent(const Json& event, Instant now);
std::vector<std::string> PrintVolume(const Json& volume, Instant now);
std::vector<std::string> PrintClaim(const Json& claim, Instant now);
std::vector<std::string> PrintResourceQuota(const Json& quota, Instant now);
std::vector<std::string> PrintStorageClass(const Json& storage_class, Instant now);

}  // namespace tfemu::api
