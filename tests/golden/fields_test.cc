// The table of fields against the real API, against the tests that show each, and against its page.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "emulator/api/scheme.h"
#include "emulator/base/strings.h"
#include "emulator/codec/yaml.h"
#include "tests/golden/field_list.h"

namespace tfemu::test {
namespace {

using api::Fidelity;
using api::Field;
using api::Json;
using api::Schema;

std::string Path(const std::string& relative) { return std::string(TFEMU_SOURCE) + "/" + relative; }

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path.string());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// "NAME | the rest", without comments.
std::map<std::string, std::string> ReadPairs(const std::string& relative) {
  std::map<std::string, std::string> pairs;
  std::istringstream text(Read(Path(relative)));
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.starts_with("#")) continue;
    const size_t bar = line.find('|');
    REQUIRE_MESSAGE(bar != std::string::npos, line);
    const std::string name(Trim(line.substr(0, bar)));
    CHECK_MESSAGE(pairs.emplace(name, Trim(line.substr(bar + 1))).second, "twice: " << name);
  }
  return pairs;
}

std::string AllTests() {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Path("tests"))) {
    const auto extension = entry.path().extension();
    if (extension == ".cc" || extension == ".py") text += Read(entry.path());
  }
  return text;
}

// A test case, a function of Python, or "table NAME": a table that a runner walks.
bool HasTest(const std::string& sources, const std::string& name) {
  constexpr std::string_view kTable = "table ";
  if (name.starts_with(kTable))
    return sources.find("(\"" + name.substr(kTable.size()) + "\",") != std::string::npos;
  return sources.find("\"" + name + "\") {") != std::string::npos ||
         sources.find("\ndef " + name + "(") != std::string::npos;
}

TEST_CASE("every field names the test that shows it") {
  const ShownBy tests = ReadPairs("tests/golden/tables/fields.txt");
  std::set<std::string> wanted;
  for (const ListedField& listed : ListFields()) {
    if (!NeedsTest(listed)) continue;
    wanted.insert(listed.path);
    CHECK_MESSAGE(tests.contains(listed.path), "no row: " << listed.path);
  }
  for (const auto& [path, test] : tests)
    CHECK_MESSAGE(wanted.contains(path), "a row for a field that needs none: " << path);
}

TEST_CASE("every test that a field names is there") {
  const std::string sources = AllTests();
  CHECK_FALSE(HasTest(sources, "no test has this name"));
  CHECK(HasTest(sources, kEveryWarning));
  std::set<std::string> names;
  for (const auto& [path, test] : ReadPairs("tests/golden/tables/fields.txt")) names.insert(test);
  for (const std::string& name : names) CHECK_MESSAGE(HasTest(sources, name), "no test: " << name);
}

TEST_CASE("the page of fields is this table") {
  const std::string path = Path("docs/fidelity-fields.md");
  const std::string page = FieldsPage(ListFields(), ReadPairs("tests/golden/tables/fields.txt"));
  if (std::getenv("TFEMU_UPDATE_GOLDENS") != nullptr) std::ofstream(path) << page;
  CHECK_MESSAGE(Read(path) == page, "TFEMU_UPDATE_GOLDENS=1 writes it anew");
}

// The recorded API's types and our schemas, side by side.
class Comparison {
 public:
  explicit Comparison(std::map<std::string, std::string> types) : types_(std::move(types)) {}

  void Compare(const std::string& path, const std::string& type, const Schema& schema) {
    if (!seen_.emplace(type, &schema).second) return;
    REQUIRE_MESSAGE(types_.contains(type), type);
    for (const std::string& word : Split(types_.at(type), ' ')) {
      const std::string name = word.substr(0, word.find(':'));
      const auto field = std::ranges::find(schema.fields, std::string_view(name), &Field::name);
      ++compared;
      CHECK_MESSAGE(field != schema.fields.end(), "unknown to us: " << path << "." << name);
      if (field == schema.fields.end() || field->of == nullptr) continue;
      if (const size_t colon = word.find(':'); colon != std::string::npos)
        Compare(path + "." + name, word.substr(colon + 1), *field->of);
    }
  }

  int compared = 0;

 private:
  std::map<std::string, std::string> types_;
  std::set<std::pair<std::string, const Schema*>> seen_;
};

TEST_CASE("every field of the recorded API is known") {
  Comparison comparison(ReadPairs("tests/golden/openapi_types.txt"));
  for (const char* kind :
       {"TFJob", "ConfigMap", "Secret", "Service", "PersistentVolumeClaim", "PersistentVolume"})
    comparison.Compare(kind, kind, *api::FindKind(kind)->schema);
  CHECK(comparison.compared > 400);
}

Json SampleOf(const Field& field, const Json& member) {
  Json value;
  switch (field.type) {
    case api::Type::kInteger:
    case api::Type::kIntOrString:
    case api::Type::kNumber: value = 3; break;
    case api::Type::kBoolean: value = true; break;
    case api::Type::kQuantity: value = "2Gi"; break;
    case api::Type::kTime: value = "2026-11-30T18:32:45Z"; break;
    case api::Type::kObject: value = member.is_null() ? Json::object({{"x", "y"}}) : member; break;
    case api::Type::kString:
    case api::Type::kAny: value = "something"; break;
  }
  if (field.shape == api::Shape::kList) return Json::array({value});
  if (field.shape == api::Shape::kMap) return Json::object({{"key", value}});
  return value;
}

// A manifest of `kind` that sets this one field; `trail` leads to it.
std::string ManifestWith(const api::Kind& kind, const std::vector<const Field*>& trail) {
  Json inner;
  for (auto field = trail.rbegin(); field != trail.rend(); ++field)
    inner = Json::object({{std::string((*field)->name), SampleOf(**field, inner)}});
  inner["apiVersion"] = kind.api_version;
  inner["kind"] = kind.kind;
  return inner.dump(1);  // JSON is YAML, a member a line
}

class Warnings {
 public:
  void Walk(const api::Kind& kind, const Schema& schema) {
    if (!seen_.insert(&schema).second) return;
    for (const Field& field : schema.fields) {
      trail_.push_back(&field);
      const bool warned = field.fidelity == Fidelity::kIgnored || field.fidelity == Fidelity::kRefused;
      if (warned) Expect(kind, field);
      else if (field.of != nullptr) Walk(kind, *field.of);
      trail_.pop_back();
    }
  }

  int expected = 0;

 private:
  void Expect(const api::Kind& kind, const Field& field) {
    ++expected;
    const std::string manifest = ManifestWith(kind, trail_);
    INFO(manifest);
    const auto documents = codec::ParseYaml(manifest, "m.yaml");
    REQUIRE(documents.ok());
    const codec::Document& document = documents.value().at(0);
    const auto findings = api::CheckFields(document.value, *kind.schema);
    const auto& messages = field.fidelity == Fidelity::kIgnored ? findings.warnings : findings.errors;
    const auto said = std::ranges::find_if(messages, [&](const FieldMessage& message) {
      return message.message.ends_with(": " + std::string(field.note));
    });
    REQUIRE(said != messages.end());
    const int line = document.lines.LineOf(said->field);
    const std::string text = Split(manifest, '\n').at(static_cast<size_t>(line) - 1);
    CHECK(text.find("\"" + std::string(field.name) + "\"") != std::string::npos);
  }

  std::vector<const Field*> trail_;
  std::set<const Schema*> seen_;
};

TEST_CASE("every field that is not honoured or refused says so with its line") {
  Warnings warnings;
  for (const api::Kind& kind : api::Kinds()) warnings.Walk(kind, *kind.schema);
  CHECK(warnings.expected > 60);
}

}  // namespace
}  // namespace tfemu::test
