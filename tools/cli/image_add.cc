// tfemu image add, rm and prune: what lies in the home's folder of images, and in the store behind it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "emulator/base/strings.h"
#include "runtime/image/archive_record.h"
#include "runtime/image/image_file.h"
#include "runtime/image/image_folders.h"
#include "runtime/image/layer_store.h"
#include "runtime/image/reference.h"
#include "tools/cli/image_verbs.h"
#include "tools/cli/progress.h"
#include "tools/cli/targets.h"

namespace tfemu::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMadeByUs = "# made by tfemu image add; edit it as you like\n";

Error Cannot(const std::string& what, const std::error_code& error) {
  return {.reason = Reason::kUnavailable, .message = "cannot " + what + ": " + error.message()};
}

Result<fs::path> ImagesFolder(Session& session) {
  ASSIGN_OR_RETURN(const std::string home, session.Home());
  return fs::path(home) / "images";
}

bool LooksLikeRoot(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {"bin", "usr", "etc"})
    if (fs::exists(fs::symlink_status(folder / name, error))) return true;
  return false;
}

bool IsArchive(const fs::path& source) {
  return fs::is_regular_file(source) || fs::exists(source / "oci-layout");
}

std::string NameOf(const fs::path& source) {
  std::string name = source.filename().string();
  for (const char* end : {".gz", ".xz", ".bz2", ".zst", ".tar", ".tgz", ".txz", ".oci"})
    if (name.size() > std::string_view(end).size() && name.ends_with(end))
      name.resize(name.size() - std::string_view(end).size());
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '-';
  return ToLower(name);
}

// An OCI layout often names its image by the tag alone.
std::vector<std::string> FullReferences(const std::vector<std::string>& references, const std::string& name) {
  std::vector<std::string> full;
  for (const auto& one : references)
    full.push_back(one.find_first_of(":/") == one.npos ? name + ":" + one : one);
  if (full.empty()) full.push_back(name);
  return full;
}

class Adding {
 public:
  Adding(Session& session, const AddImageOptions& options) : session_(session), options_(options) {}

  Result<std::string> Run() {
    std::error_code error;
    source_ = fs::canonical(options_.source, error);
    if (error) return Error{Reason::kNotFound, options_.source + ": " + error.message()};
    const bool folder = fs::is_regular_file(source_ / image::kImageFile);
    if (folder && (!options_.references.empty() || options_.copy || !options_.select.empty()))
      return Error{Reason::kBadRequest, "--reference, --select and --copy are for archives; " +
                                            options_.source + " has an image.yaml that says them"};
    if (!folder && fs::is_directory(source_) && !IsArchive(source_) && !LooksLikeRoot(source_))
      return Error{Reason::kInvalid,
                   options_.source + " has no image.yaml, no oci-layout, and no /bin, /usr or /etc",
                   "docs/images.md shows what an image can be"};
    RETURN_IF_ERROR(CheckReferences(options_.references));
    name_ = options_.name.empty() ? NameOf(source_) : options_.name;
    if (name_.empty() || name_.find('/') != name_.npos || name_.starts_with('.'))
      return Error{Reason::kBadRequest, "no name for an image folder: \"" + name_ + "\"",
                   "--name gives another"};
    ASSIGN_OR_RETURN(const fs::path images, ImagesFolder(session_));
    target_ = images / name_;
    fs::create_directories(images, error);
    if (fs::exists(fs::symlink_status(target_, error)))
      return Error{Reason::kAlreadyExists, "an image folder named " + name_ + " is there already",
                   "tfemu image rm " + name_ + ", or another --name"};
    return folder ? Link() : Make();
  }

 private:
  static Result<void> CheckReferences(const std::vector<std::string>& references) {
    for (const auto& one : references) {
      std::string plain = one;
      std::ranges::replace_if(
          plain, [](char c) { return c == '*' || c == '?'; }, 'x');
      RETURN_IF_ERROR(image::ParseReference(plain));
    }
    return {};
  }

  // So that what is edited in the folder counts at once.
  Result<std::string> Link() {
    std::error_code error;
    fs::create_directory_symlink(source_, target_, error);
    if (error) return Cannot("make " + target_.string(), error);
    return target_.string() + " -> " + source_.string() + "\n";
  }

  // image.yaml comes last: until then nobody sees the folder.
  Result<std::string> Make() {
    std::error_code error;
    fs::create_directory(target_, error);
    if (error) return Cannot("make " + target_.string(), error);
    auto made = Fill();
    if (!made.ok()) fs::remove_all(target_, error);
    return made;
  }

  Result<std::string> Fill() {
    std::string root = source_;
    if (options_.copy) {
      ASSIGN_OR_RETURN(root, Copy());
    }
    std::vector<std::string> references = options_.references;
    if (IsArchive(root)) {
      ASSIGN_OR_RETURN(const std::string home, session_.Home());
      const std::string absolute = (target_ / root).lexically_normal();
      RETURN_IF_ERROR(UnpackNow(session_, {.archive = absolute, .select = options_.select}, home + "/cache"));
      const auto record = image::LoadRecord(home + "/cache", image::ArchiveKey(absolute, options_.select));
      if (!record) return Error{.message = "the layers of " + absolute + " have gone again"};
      if (references.empty()) references = FullReferences(record->references, name_);
    }
    if (references.empty()) references = {name_};
    nlohmann::json list = references;
    std::ofstream file(target_ / image::kImageFile);
    file << kMadeByUs << "references: " << list.dump() << "\nroot: " << nlohmann::json(root).dump() << "\n";
    if (!options_.select.empty()) file << "select: " << nlohmann::json(options_.select).dump() << "\n";
    if (!file.flush())
      return Error{Reason::kUnavailable, "cannot write " + (target_ / image::kImageFile).string()};
    if (!options_.copy && IsArchive(root))
      session_.terminal.Note("it refers to " + root + ": keep that, or add it with --copy");
    return name_ + " answers to " + Join(references, ", ") + "\n";
  }

  // Relative to the new folder, so that the folder can be moved.
  Result<std::string> Copy() {
    if (!IsArchive(source_))
      return Error{Reason::kBadRequest, "--copy takes archives, not unpacked root file systems",
                   "cp -a keeps owners and links; then add the copy"};
    std::error_code error;
    session_.terminal.Status("copying " + source_.string());
    const std::string name = source_.filename();
    fs::copy(source_, target_ / name, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
    session_.terminal.ClearStatus();
    if (error) return Cannot("copy " + source_.string(), error);
    return name;
  }

  Session& session_;
  const AddImageOptions& options_;
  fs::path source_, target_;
  std::string name_;
};

bool IsOurs(const fs::path& folder) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(folder, error))) return true;
  std::ifstream file(folder / image::kImageFile);
  std::string first;
  return std::getline(file, first) && first + "\n" == kMadeByUs;
}

Error NoSuchFolder(Session& session, const fs::path& target) {
  const std::string closest = Closest(target.filename(), AddedImages(session));
  return {
      .reason = Reason::kNotFound,
      .message = "no image folder " + target.string(),
      .hint = closest.empty() ? "tfemu image ls shows where images are" : "did you mean " + closest + "?"};
}

std::string Sentence(const image::Pruned& pruned, bool dry) {
  std::string text = std::to_string(pruned.layers) + (pruned.layers == 1 ? " layer" : " layers");
  if (pruned.bytes) text += " (" + FormatSize(pruned.bytes) + ")";
  text += dry ? " would go" : " removed";
  if (!pruned.kept.empty())
    text += ", " + std::to_string(pruned.kept.size()) + " kept because pods run on them";
  return text + "\n";
}

}  // namespace

Result<void> UnpackNow(Session& session, const runtime::Image& image, const std::string& cache) {
  std::string last;
  const auto unpacked = image::PrepareNow(
      {.folders = {}, .cache_folder = cache}, image, [&](const runtime::PrepareProgress& step) {
        const std::string line = FormatProgress(step.done, step.total, step.text);
        if (session.terminal.interactive()) session.terminal.Status(line);
        else if (line != last) session.terminal.Note(line);
        last = line;
      });
  session.terminal.ClearStatus();
  return unpacked;
}

int AddImageFolder(Session& session, const AddImageOptions& options) {
  const auto added = Adding(session, options).Run();
  if (!added.ok()) {
    if (added.error().reason == Reason::kBadRequest)
      return session.Usage(added.error().message, added.error().hint);
    return session.Fail(added.error());
  }
  session.terminal.Print(added.value());
  return kOk;
}

std::vector<std::string> AddedImages(Session& session) {
  std::vector<std::string> names;
  const auto images = ImagesFolder(session);
  std::error_code error;
  if (images.ok())
    for (const auto& entry : fs::directory_iterator(images.value(), error))
      if (IsOurs(entry.path())) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

int RemoveImage(Session& session, const std::string& name) {
  const auto images = ImagesFolder(session);
  if (!images.ok()) return session.Fail(images.error());
  if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.'))
    return session.Usage("not the name of an image folder: \"" + name + "\"",
                         "tfemu image ls shows the folders");
  const fs::path target = images.value() / name;
  std::error_code error;
  const auto status = fs::symlink_status(target, error);
  if (!fs::exists(status)) return session.Fail(NoSuchFolder(session, target));
  if (!IsOurs(target))  // the user's work
    return session.Fail(Error{Reason::kForbidden,
                              target.string() + " is a folder that image add has not made",
                              "remove it by hand: rm -r " + target.string()});
  std::vector<std::string> forgotten;
  const auto known = image::ReadImageFolder(target);
  const bool linked = fs::is_symlink(status);
  if (!linked && known.ok() && !known.value().archive.empty())
    forgotten.push_back(image::ArchiveKey(known.value().archive, known.value().select));
  if (linked) fs::remove(target, error);
  else fs::remove_all(target, error);
  if (error) return session.Fail(Cannot("remove " + target.string(), error));
  session.terminal.Print(name + " removed\n");
  if (forgotten.empty()) return kOk;
  const auto pruned = image::PruneStore(images.value().parent_path() / "cache", forgotten, false);
  if (!pruned.ok()) return session.Fail(pruned.error());
  session.terminal.Note(std::string(Trim(Sentence(pruned.value(), false))));
  return kOk;
}

int PruneImages(Session& session, bool dry) {
  const auto home = session.Home();
  if (!home.ok()) return session.Fail(home.error());
  const auto pruned = image::PruneStore(home.value() + "/cache", {}, dry);
  if (!pruned.ok()) return session.Fail(pruned.error());
  session.terminal.Print(Sentence(pruned.value(), dry));
  return kOk;
}

}  // namespace tfemu::cli
