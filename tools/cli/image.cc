// tfemu image: what each image reference runs here.
#include <CLI/CLI.hpp>

#include "emulator/base/strings.h"
#include "emulator/codec/table.h"
#include "tools/cli/image_prepare.h"
#include "tools/cli/image_verbs.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

int ListImages(Session& session) {
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  const auto reply = client.value()->Call(&rpc::Stub::ListImages, rpc::v1::ListImagesRequest());
  if (!reply.ok()) return session.Fail(reply.error());
  std::vector<std::vector<std::string>> rows{{"REFERENCES", "ROOT", "READY", "SIZE", "FOLDER"}};
  for (const auto& image : reply.value().images())
    rows.push_back({Join({image.references().begin(), image.references().end()}, ","), image.root_kind(),
                    image.ready() ? "yes" : "no", FormatSize(image.size_bytes()), image.folder()});
  if (rows.size() == 1) session.terminal.Note("No images; tfemu image add DIR makes one known");
  else session.terminal.Print(codec::LayOut(rows));
  return kOk;
}

int Prepare(Session& session, const std::vector<std::string>& references) {
  const auto prepared = PrepareImages(session, references);
  if (!prepared.ok()) return session.Fail(prepared.error());
  session.terminal.Note("ready: " + Join(references, ", "));
  return kOk;
}

struct Options {
  std::string word, output;
  std::vector<std::string> words;
  bool dry = false;
  AddImageOptions add;
};

}  // namespace

std::string FormatSize(uint64_t bytes) {
  if (bytes == 0) return "-";
  if (bytes < (1u << 20)) return std::to_string((bytes + 1023) >> 10) + "KiB";
  if (bytes < (1u << 30)) return std::to_string((bytes + (1u << 19)) >> 20) + "MiB";
  return std::to_string((bytes + (1u << 29)) >> 30) + "GiB";
}

Result<rpc::v1::Image> FindImage(Session& session, const std::string& reference) {
  ASSIGN_OR_RETURN(auto* client, session.Connect());
  rpc::v1::FindImageRequest request;
  request.set_reference(reference);
  return client->Call(&rpc::Stub::FindImage, request);
}

void AddImage(CLI::App& app, Session& session) {
  auto* image = app.add_subcommand("image", "What each image reference of a manifest runs here");
  image->require_subcommand(1);
  image->footer(
      "Examples:\n  tfemu image ls\n  tfemu image check tf-mnist-gpu.yaml\n  tfemu image add "
      "my-images/trainer\n  tfemu image add saved.tar --reference team/trainer:1\n  tfemu image check "
      "saved.tar");
  auto options = std::make_shared<Options>();
  const auto on = [&](const char* name, const char* about, auto run) {
    auto* verb = image->add_subcommand(name, about);
    verb->callback(
        [=, &session] { session.action = [&session, options, run] { return run(session, *options); }; });
    return verb;
  };
  on("ls", "Every image, and whether it is ready", [](Session& s, const Options&) { return ListImages(s); });
  auto* inspect = on("inspect", "What one reference runs",
                     [](Session& s, const Options& o) { return InspectImage(s, o.word, o.output); });
  inspect->add_option("reference", options->word, "As in a manifest")->required();
  inspect->add_option("-o,--output", options->output, "yaml, json or jsonpath=TEMPLATE");
  on("check", "What references run, and whether images could run",
     [](Session& s, const Options& o) { return CheckImages(s, o.words); })
      ->add_option("subjects", options->words,
                   "Manifests, references, archives, root file systems or image folders")
      ->required();
  on("prepare", "Make images ready now", [](Session& s, const Options& o) { return Prepare(s, o.words); })
      ->add_option("references", options->words, "As in a manifest")
      ->required();
  auto* add = on("add", "Make a folder or an archive known as an image",
                 [](Session& s, const Options& o) { return AddImageFolder(s, o.add); });
  add->add_option(
         "source", options->add.source,
         "A folder with an image.yaml, which is linked; a root file system, an OCI layout, or a tar: of "
         "docker save, of an OCI layout, or of a root file system")
      ->required();
  add->add_option("--reference", options->add.references, "What it answers to, instead of its own tags");
  add->add_option("--name", options->add.name, "Of the new folder, instead of the source's");
  add->add_option("--select", options->add.select, "The tag to take of an archive with several images");
  add->add_flag("--copy", options->add.copy, "Keep a copy of the archive in the new folder");
  on("rm", "Forget an added image", [](Session& s, const Options& o) { return RemoveImage(s, o.word); })
      ->add_option("name", options->word, "The folder's name")
      ->required();
  on("prune", "Remove layers that no image needs", [](Session& s, const Options& o) {
    return PruneImages(s, o.dry);
  })->add_flag("--dry-run", options->dry, "Only say what would go");
}

}  // namespace tfemu::cli
