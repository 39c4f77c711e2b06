// tfemu image inspect.
#include <nlohmann/json.hpp>

#include "emulator/base/strings.h"
#include "emulator/codec/table.h"
#include "tools/cli/image_verbs.h"
#include "tools/cli/output.h"

namespace tfemu::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

nlohmann::json ToJson(const rpc::v1::Image& image) {
  const auto texts = [](const auto& values) {
    return std::vector<std::string>(values.begin(), values.end());
  };
  auto layers = nlohmann::json::array();
  for (const auto& layer : image.archive_layers())
    layers.push_back({{"diffId", layer.diff_id()},
                      {"digest", layer.digest()},
                      {"size", layer.packed_bytes()},
                      {"unpackedSize", layer.unpacked_bytes()},
                      {"entries", layer.entries()}});
  return {{"kind", "Image"},
          {"id", image.id()},
          {"folder", image.folder()},
          {"root", image.root_kind()},
          {"archive", image.archive()},
          {"references", texts(image.references())},
          {"archiveReferences", texts(image.archive_references())},
          {"ready", image.ready()},
          {"architecture", image.architecture()},
          {"layers", layers},
          {"folders", texts(image.layers())},
          {"requirements", image.requirements()},
          {"size", image.size_bytes()},
          {"config",
           {{"entrypoint", texts(image.entrypoint())},
            {"cmd", texts(image.cmd())},
            {"env", texts(image.env())},
            {"user", image.user()},
            {"workingDir", image.working_dir()},
            {"labels", std::map<std::string, std::string>(image.labels().begin(), image.labels().end())}}},
          {"notes", texts(image.notes())}};
}

class Table {
 public:
  void Row(const std::string& name, const std::string& value) {
    if (!value.empty()) rows_.push_back({name, value});
  }
  template <class Values>
  void List(const char* name, const Values& values) {
    bool first = true;
    for (const auto& value : values) {
      rows_.push_back({first ? name : "", value});
      first = false;
    }
  }
  std::string Text() const { return codec::LayOut(rows_, 2); }

 private:
  Rows rows_;
};

std::string RootText(const rpc::v1::Image& image) {
  if (image.root_host()) return "the host's, read-only";
  return image.root_kind() + (image.archive().empty() ? "" : " " + image.archive());
}

std::string Describe(const rpc::v1::Image& image, const std::string& reference) {
  Table table;
  table.Row("folder", image.folder());
  table.Row("id", image.id());
  table.List("references", image.references());
  table.Row("root", RootText(image));
  table.List("tagged", image.archive_references());
  table.Row("architecture", image.architecture());
  std::vector<std::string> layers;
  for (const auto& layer : image.archive_layers())
    layers.push_back(layer.diff_id() + "  " + FormatSize(layer.packed_bytes()) + ", unpacked " +
                     FormatSize(layer.unpacked_bytes()) + ", " + std::to_string(layer.entries()) +
                     " entries");
  table.List("layers", layers);
  table.List(layers.empty() ? "layers" : "mounted", image.layers());
  table.Row("python", image.requirements());
  table.Row("ready", image.ready() ? "yes" : "no; tfemu image prepare " + reference);
  table.List("entrypoint", image.entrypoint());
  table.List("cmd", image.cmd());
  table.List("env", image.env());
  table.Row("user", image.user());
  table.Row("workingDir", image.working_dir());
  std::vector<std::string> labels;
  for (const auto& [name, value] : image.labels()) labels.push_back(name + "=" + value);
  table.List("labels", labels);
  table.Row("size", FormatSize(image.size_bytes()));
  table.List("notes", image.notes());
  return table.Text();
}

}  // namespace

int InspectImage(Session& session, const std::string& reference, const std::string& output) {
  const auto format = ParseOutputFormat(output);
  if (!format.ok()) return session.Usage(format.error().message, format.error().hint);
  const auto found = FindImage(session, reference);
  if (!found.ok()) return session.Fail(found.error());
  session.terminal.Print(format.value().is_table()
                             ? Describe(found.value(), reference)
                             : FormatDocument(format.value(), api::Object(ToJson(found.value()))));
  return kOk;
}

}  // namespace tfemu::cli
