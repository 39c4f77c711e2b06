// tfemu image check: of manifests, what their references run; of images, whether they could run.
#include <algorithm>
#include <filesystem>

#include "emulator/api/view.h"
#include "emulator/base/strings.h"
#include "emulator/codec/table.h"
#include "runtime/image/archive_record.h"
#include "runtime/image/image_file.h"
#include "runtime/image/program_check.h"
#include "tools/cli/image_prepare.h"
#include "tools/cli/image_verbs.h"
#include "tools/cli/manifests.h"

namespace tfemu::cli {
namespace {

namespace fs = std::filesystem;

enum class Subject { kManifests, kPath, kReference };

Subject SubjectOf(const std::string& text) {
  if (text == "-") return Subject::kManifests;
  const fs::path path = text;
  if (!fs::exists(path)) {
    const std::string end = path.extension();  // a manifest that is missing is no image
    return end == ".yaml" || end == ".yml" || end == ".json" ? Subject::kManifests : Subject::kReference;
  }
  if (path.filename() == image::kImageFile) return Subject::kPath;
  if (fs::is_directory(path)) {
    for (const char* name : {image::kImageFile, "oci-layout", "bin", "usr", "etc"})
      if (fs::exists(fs::symlink_status(path / name))) return Subject::kPath;
    return Subject::kManifests;
  }
  const std::string end = path.extension();
  return end == ".yaml" || end == ".yml" || end == ".json" ? Subject::kManifests : Subject::kPath;
}

int CheckManifests(Session& session, const std::vector<std::string>& files) {
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
      const auto found = FindImage(session, reference);
      if (!found.ok() && found.error().reason != Reason::kNotFound) return session.Fail(found.error());
      rows.push_back(
          {reference, found.ok() ? found.value().folder() + (found.value().ready() ? "" : " (not ready yet)")
                                 : "unknown"});
      if (!found.ok()) unknown.push_back(found.error());
    }
  session.terminal.Print(codec::LayOut(rows));
  for (const auto& error : unknown) session.terminal.ShowError(error);
  return unknown.empty() ? kOk : kRefused;
}

// A folder for layers that nobody keeps.
class ScratchStore {
 public:
  explicit ScratchStore(const std::string& cache) {
    std::error_code error;
    fs::create_directories(cache, error);
    std::string pattern = cache + "/check-XXXXXX";
    if (::mkdtemp(pattern.data())) path_ = pattern;
  }
  ~ScratchStore() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  ScratchStore(const ScratchStore&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

int Report(Session& session, const std::string& subject, const runtime::Image& image) {
  std::string text = subject + ": " + runtime::ToString(image.root_kind);
  if (!image.archive_layers.empty()) {
    uint64_t bytes = 0;
    for (const auto& layer : image.archive_layers) bytes += layer.unpacked_bytes;
    text += ", " + std::to_string(image.archive_layers.size()) + " layers, unpacked " + FormatSize(bytes);
  }
  if (!image.architecture.empty()) text += ", " + image.architecture;
  std::vector<std::string> argv = image.entrypoint;
  argv.insert(argv.end(), image.cmd.begin(), image.cmd.end());
  if (!argv.empty()) text += ", runs " + Join(argv, " ");
  if (!image.user.empty()) text += " as " + image.user;
  session.terminal.Print(text + "\n");
  bool failed = false;
  for (const auto& finding : image::CheckImage(image)) {
    failed = failed || finding.error;
    if (finding.error) session.terminal.ShowError({Reason::kInvalid, subject + ": " + finding.text});
    else session.terminal.Warn(subject + ": " + finding.text);
  }
  return failed ? kRefused : kOk;
}

int CheckPath(Session& session, const std::string& subject) {
  const auto home = session.Home();
  if (!home.ok()) return session.Fail(home.error());
  fs::path path = fs::canonical(subject);
  if (path.filename() == image::kImageFile) path = path.parent_path();
  runtime::Image image{.root = {.host = false}};
  if (fs::exists(path / image::kImageFile)) {
    auto read = image::ReadImageFolder(path);
    if (!read.ok()) return session.Fail(read.error());
    image = std::move(read).value();
  } else if (fs::is_directory(path) && !fs::exists(path / "oci-layout")) {
    image.root_kind = runtime::RootKind::kFolder;
    image.root.layers = {path};
  } else {
    image.archive = path;
    image.working_dir.clear();
  }
  if (image.archive.empty()) return Report(session, subject, image);
  const ScratchStore store(home.value() + "/cache");
  if (store.path().empty())
    return session.Fail(Error{Reason::kForbidden, "cannot write to " + home.value() + "/cache"});
  runtime::Image bare{.archive = image.archive, .select = image.select, .limits = image.limits};
  const auto unpacked = UnpackNow(session, bare, store.path());
  if (!unpacked.ok()) return session.Fail(unpacked.error());
  const auto record = image::LoadRecord(store.path(), image::ArchiveKey(image.archive, image.select));
  if (!record) return session.Fail(Error{.message = subject + ": it changed while it was read"});
  image::Apply(*record, store.path(), image);
  return Report(session, subject, image);
}

runtime::Image ToImage(const rpc::v1::Image& from) {
  const auto texts = [](const auto& values) {
    return std::vector<std::string>(values.begin(), values.end());
  };
  runtime::Image image{.folder = from.folder(), .references = texts(from.references())};
  image.root.host = from.root_host();
  image.root.layers = texts(from.layers());
  image.requirements = from.requirements();
  image.entrypoint = texts(from.entrypoint());
  image.cmd = texts(from.cmd());
  image.user = from.user();
  image.architecture = from.architecture();
  image.notes = texts(from.notes());
  for (const std::string& variable : from.env())
    image.env[variable.substr(0, variable.find('='))] = variable.substr(variable.find('=') + 1);
  for (const auto& layer : from.archive_layers())
    image.archive_layers.push_back({.diff_id = layer.diff_id(), .unpacked_bytes = layer.unpacked_bytes()});
  using Kind = runtime::RootKind;
  for (const Kind kind : {Kind::kHost, Kind::kFolder, Kind::kTar, Kind::kDockerArchive, Kind::kOciLayout})
    if (from.root_kind() == runtime::ToString(kind)) image.root_kind = kind;
  return image;
}

int CheckReference(Session& session, const std::string& reference) {
  if (const auto prepared = PrepareImages(session, {reference}); !prepared.ok())
    return session.Fail(prepared.error());
  const auto found = FindImage(session, reference);
  if (!found.ok()) return session.Fail(found.error());
  return Report(session, reference, ToImage(found.value()));
}

}  // namespace

int CheckImages(Session& session, const std::vector<std::string>& subjects) {
  std::vector<std::string> manifests;
  int worst = kOk;
  for (const auto& subject : subjects) {
    const Subject kind = SubjectOf(subject);
    if (kind == Subject::kManifests) manifests.push_back(subject);
    if (kind == Subject::kPath) worst = std::max(worst, CheckPath(session, subject));
    if (kind == Subject::kReference) worst = std::max(worst, CheckReference(session, subject));
  }
  return manifests.empty() ? worst : std::max(worst, CheckManifests(session, manifests));
}

}  // namespace tfemu::cli
