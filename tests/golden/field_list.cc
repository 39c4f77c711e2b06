#include "tests/golden/field_list.h"

#include <algorithm>

#include "emulator/api/scheme.h"

namespace tfemu::test {
namespace {

using api::Fidelity;
using api::Field;
using api::Schema;
using api::Shape;

class Unfolding {
 public:
  std::vector<ListedField> listed;

  void Kind(const api::Kind& kind) { Members(std::string(kind.kind), *kind.schema); }

 private:
  void Members(const std::string& path, const Schema& schema) {
    places_.emplace(&schema, path);
    for (const Field& field : schema.fields) {
      std::string child = path + "." + std::string(field.name);
      if (field.shape == Shape::kList) child += "[]";
      if (field.shape == Shape::kMap) child += "{}";
      const auto seen = field.of == nullptr ? places_.end() : places_.find(field.of);
      listed.push_back({child, &field, seen == places_.end() ? "" : seen->second});
      const bool alive = field.fidelity == Fidelity::kHonoured || field.fidelity == Fidelity::kApproximated;
      if (alive && field.of != nullptr && seen == places_.end()) Members(child, *field.of);
    }
  }

  std::map<const Schema*, std::string> places_;
};

std::string Becomes(const ListedField& listed) {
  const Field& field = *listed.field;
  const std::string note(field.note);
  std::string text;
  switch (field.fidelity) {
    case Fidelity::kHonoured: text = "honoured"; break;
    case Fidelity::kApproximated: text = "approximated: " + note; break;
    case Fidelity::kIgnored: text = "ignored, with a warning: " + note; break;
    case Fidelity::kRefused: text = "refused: " + note; break;
  }
  return listed.same_as.empty() ? text : text + "; members as `" + listed.same_as + "`";
}

constexpr const char* kHead = R"(# Every field, and what becomes of it

Made from the tables in `emulator/api/*schema*.cc` that check every manifest (`TFEMU_UPDATE_GOLDENS=1` and
`tools/run-test fields` write it anew); [fidelity.md](fidelity.md) is the overview. *Ignored* fields are kept in the
object, and `apply` names them with line and field (`--strict` refuses them). The last column names the test that
shows it: find it with `grep -rn NAME tests`. Members of a schema are listed where it comes first.
)";

}  // namespace

std::vector<ListedField> ListFields() {
  Unfolding unfolding;
  for (const char* first : {"Pod", "TFJob"}) unfolding.Kind(*api::FindKind(first));
  for (const api::Kind& kind : api::Kinds())
    if (kind.kind != "Pod" && kind.kind != "TFJob") unfolding.Kind(kind);
  return std::move(unfolding.listed);
}

bool NeedsTest(const ListedField& listed) {
  const Field& field = *listed.field;
  const bool unfolded = field.of != nullptr && listed.same_as.empty();
  return !unfolded && (field.fidelity == Fidelity::kHonoured || field.fidelity == Fidelity::kApproximated);
}

std::string FieldsPage(const std::vector<ListedField>& fields, const ShownBy& tests) {
  std::string page = kHead, kind;
  for (const ListedField& listed : fields) {
    const size_t dot = listed.path.find('.');
    if (const std::string of = listed.path.substr(0, dot); of != kind) {
      kind = of;
      page += "\n## " + kind + "\n\n| field | becomes | test |\n|---|---|---|\n";
    }
    const auto test = tests.find(listed.path);
    const bool warned =
        listed.field->fidelity == Fidelity::kIgnored || listed.field->fidelity == Fidelity::kRefused;
    page += "| `" + listed.path.substr(dot + 1) + "` | " + Becomes(listed) + " | " +
            (warned                ? kEveryWarning
             : test == tests.end() ? ""
                                   : test->second) +
            " |\n";
  }
  return page;
}

}  // namespace tfemu::test
