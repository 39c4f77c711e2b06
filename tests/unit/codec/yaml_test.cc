// Manifests to documents: types, lines, refusals.
#include "emulator/codec/yaml.h"

#include <doctest/doctest.h>

#include "emulator/codec/yaml_scalar.h"

namespace tfemu::codec {
namespace {

using nlohmann::json;

json One(const std::string& text) {
  const auto documents = ParseYaml(text, "f.yaml");
  REQUIRE_MESSAGE(documents.ok(), (documents.ok() ? "" : documents.error().message));
  REQUIRE(documents.value().size() == 1);
  return documents.value().front().value;
}

Error Refused(const std::string& text) {
  const auto documents = ParseYaml(text, "f.yaml");
  REQUIRE(!documents.ok());
  CHECK(documents.error().reason == Reason::kInvalid);
  return documents.error();
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("plain scalars are typed as Kubernetes' tools type them") {
  const std::vector<std::pair<std::string, json>> cases = {{"", nullptr},
                                                           {"~", nullptr},
                                                           {"null", nullptr},
                                                           {"NULL", nullptr},
                                                           {"nULL", "nULL"},
                                                           {"true", true},
                                                           {"yes", true},
                                                           {"On", true},
                                                           {"y", true},
                                                           {"YES", true},
                                                           {"no", false},
                                                           {"off", false},
                                                           {"N", false},
                                                           {"yEs", "yEs"},
                                                           {"0", 0},
                                                           {"-7", -7},
                                                           {"+5", 5},
                                                           {"1_000", 1000},
                                                           {"0x1F", 31},
                                                           {"0b101", 5},
                                                           {"0o17", 15},
                                                           {"0755", 493},
                                                           {"08", 8.0},
                                                           {"9223372036854775807", INT64_MAX},
                                                           {"18446744073709551615", UINT64_MAX},
                                                           {"1.5", 1.5},
                                                           {".5", 0.5},
                                                           {"1.", 1.0},
                                                           {"1e3", 1000.0},
                                                           {"-1.5e-3", -0.0015},
                                                           {"1e", "1e"},
                                                           {".", "."},
                                                           {"-", "-"},
                                                           {"1.2.3", "1.2.3"},
                                                           {"10Gi", "10Gi"},
                                                           {"2026-11-30", "2026-11-30"},
                                                           {"12:30", "12:30"},
                                                           {"abc", "abc"},
                                                           {"=", "="},
                                                           {"<<", "<<"}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    const auto value = ResolvePlainScalar(text);
    REQUIRE(value.ok());
    CHECK(value.value() == expected);
    CHECK(value.value().type() == expected.type());
  }
  CHECK(!ResolvePlainScalar(".inf").ok());
  CHECK(!ResolvePlainScalar("-.Inf").ok());
  CHECK(!ResolvePlainScalar(".nan").ok());
}

TEST_CASE("quoted, tagged and block scalars are texts") {
  const json doc = One("a: 'true'\nb: \"5\"\nc: !!str 5\nd: |\n  x\n  y\ne: >-\n  u\n  v\nf: !!int 7\n");
  CHECK(doc == json{{"a", "true"}, {"b", "5"}, {"c", "5"}, {"d", "x\ny\n"}, {"e", "u v"}, {"f", 7}});
  CHECK(Has(Refused("a: !mine 5\n").message, "f.yaml:1: the tag"));
}

TEST_CASE("keys become texts") {
  CHECK(One("1: a\ntrue: b\n2.5: c\n") == json{{"1", "a"}, {"true", "b"}, {"2.5", "c"}});
  CHECK(Has(Refused("? [a]\n: b\n").message, "a key must be a text"));
  CHECK(Has(Refused("~: b\n").message, "a key is empty"));
}

TEST_CASE("documents: many, empty ones dropped, lists expanded, JSON") {
  const auto many = ParseYaml("---\n---\na: 1\n---\n# only a remark\n---\nb: 2\n...\n", "f.yaml");
  REQUIRE(many.ok());
  REQUIRE(many.value().size() == 2);
  CHECK(many.value()[1].value == json{{"b", 2}});
  CHECK(many.value()[1].lines.line == 7);
  const auto list = ParseYaml("kind: List\napiVersion: v1\nitems:\n- kind: A\n- kind: B\n  x: 1\n", "f.yaml");
  REQUIRE(list.ok());
  REQUIRE(list.value().size() == 2);
  CHECK(list.value()[1].lines.LineOf("x") == 6);
  CHECK(One("{\"a\": [1, {\"b\": null}], \"c\": \"\\u00e9\"}") ==
        json{{"a", {1, {{"b", nullptr}}}}, {"c", "é"}});
  CHECK(One("{\n\t\"a\":\t\"\\ud83d\\ude00\"\n}") == json{{"a", "😀"}});
  CHECK(ParseYaml("", "f.yaml").value().empty());
  CHECK(Has(Refused("- a\n").message, "f.yaml:1: a manifest is a mapping"));
  CHECK(Has(Refused("just text\n").message, "single value"));
}

TEST_CASE("anchors, aliases and merge keys") {
  const json doc =
      One("base: &b {u: 1, v: 2}\none:\n  <<: *b\n  v: 3\ntwo: *b\nthree:\n  <<: [*b, {w: 4, u: 9}]\n");
  CHECK(doc["one"] == json{{"u", 1}, {"v", 3}});
  CHECK(doc["two"] == json{{"u", 1}, {"v", 2}});
  CHECK(doc["three"] == json{{"u", 1}, {"v", 2}, {"w", 4}});
  CHECK(Has(Refused("a: &a\n  b: *a\n").message, "alias"));
  CHECK(Has(Refused("a: *nowhere\n").message, "f.yaml:1"));
  CHECK(Has(Refused("a:\n  <<: 5\n").message, "<< needs a mapping"));
}

TEST_CASE("an alias bomb is bounded") {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 0; j < 9; ++j) text += "," + before;
    text += "]\n";
  }
  CHECK(Has(Refused(text).message, "more than 1000000 values"));
}

TEST_CASE("duplicate keys name both lines") {
  CHECK(Refused("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n").message ==
        "f.yaml:5: the key \"c\" is there twice; the first stands in line 3");
}

TEST_CASE("tabs are named with their line") {
  const Error error = Refused("a:\n  b: 1\n\tc: 2\n");
  CHECK(error.message == "f.yaml:3: a tab stands in the indentation; YAML takes only blanks there");
  CHECK(Has(error.hint, "f.yaml"));
  CHECK(One("a: |\n  x\n  \ty\n")["a"] == "x\n\ty\n");
  CHECK(One("a:\t1\n")["a"] == 1);
}

TEST_CASE("foreign blanks are named with their line and a remedy") {
  const Error error = Refused("kind: TFJob\nmetadata:\n\xC2\xA0 name: x\n");
  CHECK(error.message == "f.yaml:3: a non-breaking space (U+00A0) stands where YAML needs an ordinary blank");
  CHECK(Has(error.hint, "sed -i 's/\\xc2\\xa0/ /g' f.yaml"));
  CHECK(Has(Refused("a:\xC2\xA0"
                    "1\nb: 2\n")
                .message,
            "f.yaml:1: "));
  CHECK(Has(Refused("a: x\xE2\x80\x8B\n").message, "zero-width space (U+200B)"));
  CHECK(Has(Refused("a:\n\xE3\x80\x80- b\n").message, "ideographic space (U+3000)"));
  // Inside a text they are the user's own.
  CHECK(One("a: 10\xC2\xA0€ each\n")["a"] == "10\xC2\xA0€ each");
  CHECK(One("a: '\xC2\xA0x'\n")["a"] == "\xC2\xA0x");
  CHECK(One("\xEF\xBB\xBF"
            "a: 1\n")["a"] == 1);
}

TEST_CASE("what is no YAML") {
  CHECK(Has(Refused("a: [1, 2\n").message, "f.yaml:"));
  CHECK(Has(Refused("a: b: c\n").message, "not YAML"));
  CHECK(Has(Refused(std::string("a: \0b", 5)).message, "binary"));
  CHECK(Has(Refused("\xFF\xFE"
                    "a")
                .message,
            "UTF-16"));
  CHECK(Refused("a: 1\nb: caf\xE9\n").message == "f.yaml:2: a byte that is not UTF-8 stands here");
  CHECK(Has(Refused(std::string(kMaxYamlBytes + 1, ' ')).message, "MiB"));
  CHECK(Has(Refused(std::string(3000, '[')).message, "f.yaml:"));
}

TEST_CASE("lines of fields") {
  const auto documents = ParseYaml(
      "kind: TFJob\nmetadata:\n  annotations:\n    a.b/c: x\nspec:\n  tfReplicaSpecs:\n    WORKER:\n      "
      "replicas: -1\n"
      "      template:\n        spec:\n          containers:\n          - name: a\n          - name: b\n     "
      "       image: c\n",
      "f.yaml");
  REQUIRE(documents.ok());
  const LineTree& lines = documents.value().front().lines;
  const std::vector<std::pair<std::string, int>> cases = {
      {"", 1},
      {"kind", 1},
      {"spec", 5},
      {"spec.tfReplicaSpecs.WORKER.replicas", 8},
      {"spec.tfReplicaSpecs[Worker].replicas", 8},
      {"spec.tfReplicaSpecs.Worker.template.spec.containers[1].image", 14},
      {"spec.tfReplicaSpecs.Worker.template.spec.containers[0].image", 12},
      {"spec.tfReplicaSpecs.Worker.template.spec.containers[7]", 11},
      {"metadata.annotations.a.b/c", 4},
      {"metadata.annotations[a.b/c]", 4},
      {"metadata.name", 2},
      {"nothing.of.it", 1}};
  for (const auto& [path, line] : cases) {
    CAPTURE(path);
    CHECK(lines.LineOf(path) == line);
  }
}

}  // namespace
}  // namespace tfemu::codec
