// tfemu image: what each image reference runs here.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "emulator/api/view.h"
#include "emulator/base/strings.h"
#include "emulator/codec/table.h"
#include "emulator/rpc/client.h"
#include "tools/cli/image_prepare.h"
#include "tools/cli/manifests.h"
#include "tools/cli/verbs.h"

namespace tfemu::cli {
namespace {

namespace fs = std::filesystem;

std::string FormatSize(uint64_t bytes) {
  if (bytes == 0) return "-";
  if (bytes < (1u << 30)) return std::to_string((bytes + (1u << 19)) >> 20) + "MiB";
  return std::to_string((bytes + (1u << 29)) >> 30) + "GiB";
}

int ListImages(Session& session) {
  const auto client = session.Connect();
  if (!client.ok()) return session.Fail(client.error());
  const auto reply = client.value()->Call(&rpc::Stub::ListImages, rpc::v1::ListImagesRequest());
  if (!reply.ok()) return session.Fail(reply.error());
  std::vector<std::vector<std::string>> rows{{"REFERENCES", "READY", "SIZE", "FOLDER"}};
  for (const auto& image : reply.value().images())
    rows.push_back({Join({image.references().begin(), image.references().end()}, ","),
                    image.ready() ? "yes" : "no", FormatSize(image.size_bytes()), image.folder()});
  if (rows.size() == 1) session.terminal.Note("No images; tfemu image add DIR makes one known");
  else session.terminal.Print(codec::LayOut(rows));
  return kOk;
}

Result<rpc::v1::Image> FindImage(Session& session, const std::string& reference) {
  ASSIGN_OR_RETURN(auto* client, session.Connect());
  rpc::v1::FindImageRequest request;
  request.set_reference(reference);
  return client->Call(&rpc::Stub::FindImage, request);
}

int Inspect(Session& session, const std::string& reference) {
  const auto found = FindImage(session, reference);
  if (!found.ok()) return session.Fail(found.error());
  const auto& image = found.value();
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* name, const auto& values) {
    bool first = true;
    for (const auto& value : values) {
      rows.push_back({first ? name : "", value});
      first = false;
    }
  };
  rows.push_back({"folder", image.folder()});
  rows.push_back({"id", image.id()});
  add("references", image.references());
  rows.push_back({"root", image.root_host() ? "the host's, read-only" : "its own"});
  add("layers", image.layers());
  if (!image.requirements().empty()) rows.push_back({"python", image.requirements()});
  rows.push_back({"ready", image.ready() ? "yes" : "no; tfemu image prepare " + reference});
  add("entrypoint", image.entrypoint());
  add("cmd", image.cmd());
  add("env", image.env());
  rows.push_back({"workingDir", image.working_dir()});
  rows.push_back({"size", FormatSize(image.size_bytes())});
  session.terminal.Print(codec::LayOut(rows, 2));
  return kOk;
}

int Check(Session& session, const std::vector<std::string>& files) {
  const auto manifests = ReadManifests(files, session.flags.ns);
  if (!manifests.ok()) return session.Fail(manifests.error());
  if (const auto client = session.Connect(); !client.ok()) return session.Fail(client.error());
  std::vector<std::vector<std::string>> rows{{"IMAGE", "RUNS"}};
  std::vector<Error> unknown;
  std::vector<std::string> seen;
  for (const auto& manifest : manifests.value())
    for (const auto& reference : api::ImagesOf(manifest.document.value)) {
      if (std::ranges::find(seen, reference) != seen.end()) continue;
      seen.push_back(reference);
      const auto image = FindImage(session, reference);
      if (!image.ok() && image.error().reason != Reason::kNotFound) return session.Fail(image.error());
      rows.push_back(
          {reference, image.ok() ? image.value().folder() + (image.value().ready() ? "" : " (not ready yet)")
                                 : "unknown"});
      if (!image.ok()) unknown.push_back(image.error());
    }
  session.terminal.Print(codec::LayOut(rows));
  for (const auto& error : unknown) session.terminal.ShowError(error);
  return unknown.empty() ? kOk : kRefused;
}

int Prepare(Session& session, const std::vector<std::string>& references) {
  const auto prepared = PrepareImages(session, references);
  if (!prepared.ok()) return session.Fail(prepared.error());
  session.terminal.Note("ready: " + Join(references, ", "));
  return kOk;
}

// A link, so that what is edited in the folder counts at once.
int Add(Session& session, const std::string& folder) {
  std::error_code error;
  const fs::path source = fs::canonical(folder, error);
  if (error) return session.Fail(Error{Reason::kNotFound, folder + ": " + error.message()});
  if (!fs::is_regular_file(source / "image.yaml", error))
    return session.Fail(Error{Reason::kInvalid, folder + " has no image.yaml", "docs/images.md shows one"});
  const auto home = session.Home();
  if (!home.ok()) return session.Fail(home.error());
  const fs::path target = fs::path(home.value()) / "images" / source.filename();
  fs::create_directories(target.parent_path(), error);
  if (fs::exists(fs::symlink_status(target)))
    return session.Fail(Error{Reason::kAlreadyExists,
                              "an image folder named " + source.filename().string() + " is there already",
                              "tfemu image rm " + source.filename().string()});
  fs::create_directory_symlink(source, target, error);
  if (error)
    return session.Fail(
        Error{Reason::kUnavailable, "cannot make " + target.string() + ": " + error.message()});
  session.terminal.Print(target.string() + " -> " + source.string() + "\n");
  return kOk;
}

int Remove(Session& session, const std::string& name) {
  const auto home = session.Home();
  if (!home.ok()) return session.Fail(home.error());
  if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.'))
    return session.Usage("not the name of an image folder: \"" + name + "\"",
                         "tfemu image ls shows the folders");
  const fs::path target = fs::path(home.value()) / "images" / name;
  std::error_code error;
  const auto status = fs::symlink_status(target, error);
  if (!fs::exists(status))
    return session.Fail(Error{Reason::kNotFound, "no image folder " + target.string(),
                              "tfemu image ls shows where images are"});
  // Only links are ours; a real folder is the user's work.
  if (!fs::is_symlink(status))
    return session.Fail(Error{Reason::kForbidden,
                              target.string() + " is a folder, not a link made by image add",
                              "remove it by hand: rm -r " + target.string()});
  fs::remove(target, error);
  if (error)
    return session.Fail(
        Error{Reason::kUnavailable, "cannot remove " + target.string() + ": " + error.message()});
  session.terminal.Print(name + " removed\n");
  return kOk;
}

struct Options {
  std::string word;
  std::vector<std::string> words;
};

}  // namespace

void AddImage(CLI::App& app, Session& session) {
  auto* image = app.add_subcommand("image", "What each image reference of a manifest runs here");
  image->require_subcommand(1);
  image->footer(
      "Examples:\n  tfemu image ls\n  tfemu image check tf-mnist-gpu.yaml\n  tfemu image add "
      "my-images/trainer");
  auto options = std::make_shared<Options>();
  const auto on = [&](const char* name, const char* about, auto run) {
    auto* verb = image->add_subcommand(name, about);
    verb->callback(
        [=, &session] { session.action = [&session, options, run] { return run(session, *options); }; });
    return verb;
  };
  on("ls", "Every image, and whether it is ready", [](Session& s, const Options&) { return ListImages(s); });
  on("inspect", "What one reference runs", [](Session& s, const Options& o) { return Inspect(s, o.word); })
      ->add_option("reference", options->word, "As in a manifest")
      ->required();
  on("check", "What the references of manifests run",
     [](Session& s, const Options& o) { return Check(s, o.words); })
      ->add_option("files", options->words, "Manifests: files, folders or -")
      ->required();
  on("prepare", "Make images ready now", [](Session& s, const Options& o) { return Prepare(s, o.words); })
      ->add_option("references", options->words, "As in a manifest")
      ->required();
  on("add", "Make a folder with an image.yaml known",
     [](Session& s, const Options& o) { return Add(s, o.word); })
      ->add_option("folder", options->word, "The folder; it is linked, not copied")
      ->required();
  on("rm", "Forget an added folder", [](Session& s, const Options& o) { return Remove(s, o.word); })
      ->add_option("name", options->word, "The folder's name")
      ->required();
}

}  // namespace tfemu::cli
