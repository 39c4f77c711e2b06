// The forms of -o.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/api/object.h"
#include "emulator/api/scheme.h"
#include "emulator/base/executor.h"
#include "emulator/codec/jsonpath.h"
#include "emulator/codec/table.h"

namespace tfemu::cli {

struct OutputFormat {
  enum class Type { kTable, kWide, kYaml, kJson, kName, kJsonPath };
  Type type = Type::kTable;
  std::optional<codec::JsonPath> path = {};

  bool is_table() const { return type == Type::kTable || type == Type::kWide; }
};

// "", "wide", "yaml", "json", "name", "jsonpath=TEMPLATE".
Result<OutputFormat> ParseOutputFormat(const std::string& text);

// One object, or a list of them, in any form but a table.
std::string FormatDocument(const OutputFormat& format, const api::Object& object);
std::string FormatList(const OutputFormat& format, const std::vector<api::Object>& objects);

// The table of one kind; rows of a watch follow under the same columns.
class KindTable {
 public:
  struct Options {
    bool wide = false, with_namespace = false, header = true;
    bool kind_prefix = false;  // "pod/mnist-0": when several kinds stand together
    bool labels = false;       // a last column with all labels
  };
  KindTable(const api::Kind& kind, const Options& options);
  std::string Format(const std::vector<api::Object>& objects, Instant now);

 private:
  const api::Kind& kind_;
  Options options_;
  codec::TablePrinter printer_;
};

}  // namespace tfemu::cli
