// What `get` and `describe` show of an object, computed from its document alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emulator/api/object.h"
#include "emulator/base/executor.h"

namespace tfemu::api {

struct Column {
  std::string name;   // "External-IP"; shown in capitals
  bool wide = false;  // only with `-o wide`
};

struct Row {
  std::string ns;
  std::vector<std::string> cells;  // one for each column, the wide ones included
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

// The columns kubectl shows for `kind`; a kind without a printer has Name and Age.
Table PrintTable(std::string_view kind, std::span<const Object> objects, Instant now);

// The STATUS word of a pod: "Running", "CrashLoopBackOff", "Init:0/1", "Terminating".
std::string PodStatusWord(const Json& pod);

// What `describe` is told besides the object.
struct DescribeContext {
  std::vector<Object> events;   // of this object, any order
  std::vector<Object> related;  // pods of a node or a claim, replica sets of a deployment
  Instant now;
};

std::string Describe(const Object& object, const DescribeContext& context);

}  // namespace tfemu::api
