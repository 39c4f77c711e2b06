// JSONPath, YAML output, tables and the three-way merge.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "emulator/codec/jsonpath.h"
#include "emulator/codec/merge.h"
#include "emulator/codec/table.h"
#include "emulator/codec/yaml.h"
#include "emulator/codec/yaml_writer.h"

namespace tfemu::codec {
namespace {

using nlohmann::json;

const json kPods = json::parse(R"({"kind": "List", "items": [
  {"metadata": {"name": "a", "labels": {"app.io/x": "1"}}, "status": {"phase": "Running", "restarts": 3,
   "conditions": [{"type": "Ready", "status": "True"}, {"type": "Init", "status": "False"}]}},
  {"metadata": {"name": "b"}, "status": {"phase": "Failed", "restarts": 0}}]})");

std::string Print(const std::string& path) {
  const auto parsed = ParseJsonPath(path);
  REQUIRE_MESSAGE(parsed.ok(), path);
  return parsed.value().Format(kPods);
}

TEST_CASE("JSONPath templates") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{.kind}", "List"},
      {".kind", "List"},
      {"kind", "List"},
      {"{$.kind}", "List"},
      {"{@.kind}", "List"},
      {"{.items[0].metadata.name}", "a"},
      {"{.items[-1].metadata.name}", "b"},
      {"{.items[*].metadata.name}", "a b"},
      {"{.items[0:1].metadata.name}", "a"},
      {"{.items[:].metadata.name}", "a b"},
      {"{.items[::2].metadata.name}", "a"},
      {"{.items[5].metadata.name}", ""},
      {"{.nothing.there}", ""},
      {"{..name}", "a b"},
      {"{.items[*]['metadata.name']}", ""},
      {"{.items[*].status['phase','restarts']}", "Running 3 Failed 0"},
      {"{.items[0].metadata.labels.app\\.io/x}", "1"},
      {"{.items[0].metadata.labels['app.io/x']}", "1"},
      {"{.items[?(@.status.phase==\"Running\")].metadata.name}", "a"},
      {"{.items[?(@.status.phase!='Running')].metadata.name}", "b"},
      {"{.items[?(@.status.restarts>0)].metadata.name}", "a"},
      {"{.items[?(@.status.restarts<=0)].metadata.name}", "b"},
      {"{.items[?(@.metadata.labels)].metadata.name}", "a"},
      {"{.items[0].status.conditions[?(@.type=='Ready')].status}", "True"},
      {"{.items[0].metadata.labels}", "{\"app.io/x\":\"1\"}"},
      {"{.items[0].status.restarts}", "3"},
      {"name={.items[0].metadata.name};", "name=a;"},
      {"{range .items[*]}{.metadata.name}:{.status.phase}{\"\\n\"}{end}", "a:Running\nb:Failed\n"},
      {"{range .items[*]}[{range .status.conditions[*]}{.type} {end}]{end}", "[Ready Init ][]"},
      {"{.items[0].metadata.*}", "{\"app.io/x\":\"1\"} a"}};
  for (const auto& [path, expected] : cases) {
    CAPTURE(path);
    CHECK(Print(path) == expected);
  }
}

TEST_CASE("malformed templates say why") {
  for (const std::string path :
       {"{.a", "{range .items[*]}x", "{end}", "{.a[x]}", "{.a[?(@.b==)]}", "{.a[0:1:0]}", "{.a[}"}) {
    CAPTURE(path);
    const auto parsed = ParseJsonPath(path);
    REQUIRE(!parsed.ok());
    CHECK(parsed.error().message.find(path) != std::string::npos);
  }
}

TEST_CASE("YAML output looks as kubectl's and reads back equal") {
  const json doc =
      json::parse(R"({"kind": "X", "empty": {}, "none": [], "list": ["a", {"b": 1, "c": [2, [3]]}],
    "texts": {"bool": "true", "num": "10", "colon": "a: b", "hash": "a #b", "dash": "- x", "lines": "one\n  two\n",
    "noend": "a\nb", "many": "a\n\n", "empty": "", "tab": "a\tb", "quote": "it's", "at": "@x", "date": "2026-11-30T18:32:45Z",
    "lead": " x", "trail": "x ", "ctrl": "\u0007", "leadline": "\nx", "blankline": "  a\nb", "null": "null", "nbsp": "\u00a0x"},
    "t": true, "n": null, "i": -5, "f": 2.5, "yes": 1})");
  const std::string text = WriteYaml(doc);
  CAPTURE(text);
  const auto back = ParseYaml(text, "f");
  REQUIRE_MESSAGE(back.ok(), (back.ok() ? "" : back.error().message));
  CHECK(back.value().front().value == doc);
  CHECK(WriteYaml(json::parse(R"({"b": [{"x": 1, "y": {"z": "1"}}], "a": "t\nu\n"})")) ==
        "a: |\n  t\n  u\nb:\n- x: 1\n  \"y\":\n    z: \"1\"\n");
}

TEST_CASE("tables: three blanks, wide columns, namespaces, widths kept for a watch") {
  const api::Table table{{{"Name"}, {"Age"}, {"IP", true}},
                         {{"ns", {"long-name", "5s", "1.2.3.4"}}, {"ns", {"b", "10m", "<none>"}}}};
  TablePrinter plain({});
  CHECK(plain.Format(table) == "NAME        AGE\nlong-name   5s\nb           10m\n");
  CHECK(plain.Format({table.columns, {{"ns", {"c", "1s", "x"}}}}) == "c           1s\n");
  TablePrinter wide({.wide = true, .with_namespace = true});
  CHECK(wide.Format(table) ==
        "NAMESPACE   NAME        AGE   IP\nns          long-name   5s    1.2.3.4\nns          b           "
        "10m   <none>\n");
  CHECK(TablePrinter({.header = false}).Format({{{"A"}}, {{"", {"one\ntwo"}}}}) == "one...\n");
  CHECK(TablePrinter({}).Format({{{"A"}}, {}}).empty());
  CHECK(DisplayWidth("é") == 1);
  CHECK(DisplayWidth("训练") == 4);
}

TEST_CASE("three-way merge") {
  struct Case {
    const char *last, *desired, *live, *merged;
  };
  const std::vector<Case> cases = {
      {"{}", "{\"a\":1}", "{}", "{\"a\":1}"},
      {"{\"a\":1}", "{}", "{\"a\":1,\"b\":2}", "{\"b\":2}"},
      {"{\"a\":1}", "{\"a\":1}", "{\"a\":5,\"b\":2}", "{\"a\":1,\"b\":2}"},
      {"null", "{\"a\":{\"x\":1}}", "{\"a\":{\"y\":2}}", "{\"a\":{\"x\":1,\"y\":2}}"},
      {"{\"a\":{\"x\":1,\"z\":3}}", "{\"a\":{\"x\":2}}", "{\"a\":{\"x\":1,\"y\":2,\"z\":3}}",
       "{\"a\":{\"x\":2,\"y\":2}}"},
      {"{\"l\":[1,2]}", "{\"l\":[3]}", "{\"l\":[1,2]}", "{\"l\":[3]}"},
      {"{}", "{\"a\":null}", "{\"a\":1}", "{}"},
      {"{\"a\":{\"x\":1}}", "{\"a\":5}", "{\"a\":{\"x\":1}}", "{\"a\":5}"},
      {"{\"a\":5}", "{\"a\":{\"x\":1}}", "{\"a\":5}", "{\"a\":{\"x\":1}}"},
      {"{\"a\":1}", "{}", "{}", "{}"},
      // Lists of named items: by name, in the manifest's order, with what the server added.
      {R"({"c":[{"name":"a","x":1}]})", R"({"c":[{"name":"a","x":1}]})",
       R"({"c":[{"name":"a","x":1,"d":2},{"name":"added"}]})",
       R"({"c":[{"name":"a","x":1,"d":2},{"name":"added"}]})"},
      {R"({"c":[{"name":"a","x":1},{"name":"b"}]})", R"({"c":[{"name":"n"},{"name":"a"}]})",
       R"({"c":[{"name":"a","x":1,"d":2},{"name":"b"}]})", R"({"c":[{"name":"n"},{"name":"a","d":2}]})"},
      {"null", R"({"c":[{"name":"a"},{"name":"a"}]})", R"({"c":[{"name":"a","d":2}]})",
       R"({"c":[{"name":"a"},{"name":"a"}]})"}};
  for (const auto& one : cases) {
    CAPTURE(one.desired);
    CHECK(ThreeWayMerge(json::parse(one.last), json::parse(one.desired), json::parse(one.live)) ==
          json::parse(one.merged));
  }
}

}  // namespace
}  // namespace tfemu::codec
