// image.yaml is read strictly: every mistake names file and line.
#include "runtime/image/image_file.h"

#include <doctest/doctest.h>

#include "temporary_folder.h"

namespace tfemu::image {
namespace {

Result<runtime::Image> Read(const TemporaryFolder& folder, const std::string& text) {
  folder.Write("image.yaml", text);
  return ReadImageFolder(folder.path());
}

TEST_CASE("every key is honoured") {
  TemporaryFolder folder;
  folder.Write("requirements.txt", "tiny==1.0\n");
  folder.Write("rootfs/app/main.py", "");
  const auto read = Read(folder, R"(
references: ["*/a:*", b]
root: host
layers: [rootfs]
python: {requirements: requirements.txt}
env: {A: "1", B: two}
entrypoint: [sh, -c]
cmd: [echo]
workingDir: /app
size: 2KiB
)");
  REQUIRE(read.ok());
  const runtime::Image& image = read.value();
  CHECK(image.references == std::vector<std::string>{"*/a:*", "b"});
  CHECK(image.root.host);
  CHECK(image.root.layers == std::vector<std::string>{folder.path() + "/rootfs"});
  CHECK(image.requirements == folder.path() + "/requirements.txt");
  CHECK(image.env == std::map<std::string, std::string>{{"A", "1"}, {"B", "two"}});
  CHECK(image.entrypoint == std::vector<std::string>{"sh", "-c"});
  CHECK(image.cmd == std::vector<std::string>{"echo"});
  CHECK(image.working_dir == "/app");
  CHECK(image.size_bytes == 2048);
  CHECK(image.id.starts_with("sha256:"));
  CHECK(image.id.size() == 7 + 64);
}

TEST_CASE("a directory can be the root, under the layers") {
  TemporaryFolder folder;
  folder.Write("root/bin/sh", "");
  folder.Write("rootfs/x", "");
  const auto read = Read(folder, "references: [a]\nlayers: [rootfs]\nroot: root\n");
  REQUIRE(read.ok());
  CHECK_FALSE(read.value().root.host);
  CHECK(read.value().root.layers ==
        std::vector<std::string>{folder.path() + "/root", folder.path() + "/rootfs"});
}

TEST_CASE("an archive can be the root; what it says is left open") {
  TemporaryFolder folder;
  folder.Write("a.tar", "");
  folder.Write("layout/oci-layout", "{}");
  const std::string text =
      "references: [a]\nselect: b:1\nuser: \"7:8\"\nlimits: {bytes: 1GiB, entries: 5}\nroot: ";
  const auto tar = Read(folder, text + "a.tar\n");
  REQUIRE(tar.ok());
  CHECK(tar.value().archive == folder.path() + "/a.tar");
  CHECK_FALSE(tar.value().root.host);
  CHECK(tar.value().root.layers.empty());
  CHECK(tar.value().select == "b:1");
  CHECK(tar.value().user == "7:8");
  CHECK(tar.value().limits.bytes == 1u << 30);
  CHECK(tar.value().limits.entries == 5);
  CHECK(tar.value().working_dir.empty());
  const auto layout = Read(folder, text + "layout\n");
  REQUIRE(layout.ok());
  CHECK(layout.value().root_kind == runtime::RootKind::kOciLayout);
  folder.Write("a.tar", "changed");
  CHECK(Read(folder, text + "a.tar\n").value().id != tar.value().id);
}

TEST_CASE("mistakes name file, line and remedy") {
  struct Row {
    const char *text, *line, *message, *hint;
  };
  TemporaryFolder folder;
  folder.Write("a.tar", "");
  for (const Row& row : {
           Row{"references: [a]\nlayer: [x]\n", ":2: ", "unknown key \"layer\"", "did you mean layers?"},
           Row{"references: [a]\nfoo: 1\n", ":2: ", "unknown key \"foo\"", "the keys are references"},
           Row{"references: [a]\nsize: 1\nsize: 2\n", ":3: ", "twice", ""},
           Row{"root: host\n", ":1: ", "references: required", ""},
           Row{"references: a\n", ":1: ", "must be a list", ""},
           Row{"references: [a]\n\nlayers: [nowhere]\n", ":3: ", "there is no folder", "mkdir -p"},
           Row{"references: [a]\nroot: /dev/null\n", ":2: ", "neither a file nor a folder", ""},
           Row{"references: [a]\nlimits: {byte: 1}\n", ":2: ", "unknown key \"byte\"", "bytes, entries"},
           Row{"references: [a]\nlimits: {bytes: 0}\n", ":2: ", "more than 0", ""},
           Row{"references: [a]\nlimits: 7\n", ":2: ", "must be a map", ""},
           Row{"references: [a]\nuser: [a]\n", ":2: ", "user must be", ""},
           Row{"references: [a]\nroot: nowhere\n", ":2: ", "there is no", "host"},
           Row{"references: [a]\nsize: big\n", ":2: ", "no size", "1200MiB"},
           Row{"references: [a]\nsize: -1\n", ":2: ", "no size", ""},
           Row{"references: [a]\nenv: [A]\n", ":2: ", "must be a map", ""},
           Row{"references: [a]\nenv: {A: [1]}\n", ":2: ", "env.A must be", ""},
           Row{"references: [a]\nworkingDir: app\n", ":2: ", "must begin with /", ""},
           Row{"references: [a]\npython: {pip: x}\n", ":2: ", "unknown key \"pip\"", "requirements"},
           Row{"references: [a]\npython: {requirements: none.txt}\n", ":2: ", "there is no file", ""},
           Row{"references: [a\n", ":2: ", "", ""},
           Row{"- a\n", ":1: ", "must be a map", ""},
           Row{"", ":1: ", "must be a map", ""},
       }) {
    CAPTURE(row.text);
    const auto read = Read(folder, row.text);
    REQUIRE_FALSE(read.ok());
    CAPTURE(read.error().message);
    CAPTURE(read.error().hint);
    CHECK(read.error().reason == Reason::kInvalid);
    CHECK(read.error().message.starts_with(folder.path() + "/image.yaml" + row.line));
    CHECK(read.error().message.find(row.message) != std::string::npos);
    CHECK(read.error().hint.find(row.hint) != std::string::npos);
  }
}

TEST_CASE("the id follows the contents") {
  TemporaryFolder folder;
  folder.Write("r.txt", "a\n");
  const std::string text = "references: [a]\npython: {requirements: r.txt}\n";
  const std::string first = Read(folder, text).value().id;
  CHECK(Read(folder, text).value().id == first);
  folder.Write("r.txt", "b\n");
  CHECK(Read(folder, text).value().id != first);
}

}  // namespace
}  // namespace tfemu::image
