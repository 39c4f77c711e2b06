// Every field of every kind, from the tables that the program itself uses, and the page that lists them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulator/api/schema.h"

namespace tfemu::test {

struct ListedField {
  std::string path;  // "Pod.spec.containers[].env[].name"; {} for the values of a map
  const api::Field* field;
  std::string same_as;  // its members are those of this path, and are not listed again
};
// Each schema is unfolded once, where it comes first: Pod, then TFJob, then the others.
std::vector<ListedField> ListFields();

// What shows it: the name of a test case or function, by path.
using ShownBy = std::map<std::string, std::string>;

// A field with members is shown by them; one that is not honoured by kEveryWarning.
bool NeedsTest(const ListedField& field);
inline constexpr const char* kEveryWarning =
    "every field that is not honoured or refused says so with its line";

std::string FieldsPage(const std::vector<ListedField>& fields, const ShownBy& tests);

}  // namespace tfemu::test
