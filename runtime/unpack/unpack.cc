#include "runtime/unpack/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/image/digest.h"
#include "runtime/unpack/image_layout.h"
#include "runtime/unpack/layer_reader.h"

namespace tfemu::unpack {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr size_t kMaxLayers = 480;  // overlayfs takes 500, and image.yaml may add some
constexpr const char* kPartial = ".partial";
constexpr const char* kLayerFile = "layer.json";

Error System(const std::string& what) {
  return {.reason = errno == ENOENT ? Reason::kNotFound : Reason::kInternal,
          .message = what + ": " + ::strerror(errno)};
}

std::string HexOf(const std::string& digest) { return digest.substr(digest.find(':') + 1); }

std::string LayerText(const runtime::ImageLayer& layer) {
  return Json{{"diffId", layer.diff_id},
              {"digest", layer.digest},
              {"packed", layer.packed_bytes},
              {"unpacked", layer.unpacked_bytes},
              {"entries", layer.entries}}
      .dump();
}

// Nothing when the store does not have it.
std::optional<runtime::ImageLayer> KnownLayer(const std::string& folder) {
  std::ifstream file(folder + "/" + kLayerFile);
  const Json json = Json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
  if (!json.is_object() || !fs::is_directory(folder + "/fs")) return std::nullopt;
  return runtime::ImageLayer{.diff_id = json.value("diffId", ""),
                             .digest = json.value("digest", ""),
                             .packed_bytes = json.value("packed", uint64_t{0}),
                             .unpacked_bytes = json.value("unpacked", uint64_t{0}),
                             .entries = json.value("entries", uint64_t{0})};
}

class Unpacking {
 public:
  Unpacking(const UnpackOptions& options, std::string store)
      : options_(options), store_(std::move(store)), partial_(store_ + "/" + kPartial) {}
  ~Unpacking() {
    std::error_code ignored;
    fs::remove_all(partial_, ignored);  // what got its name is not in it any more
  }
  Unpacking(const Unpacking&) = delete;

  Result<void> Prepare() {
    std::error_code error;
    fs::remove_all(partial_, error);  // of a killed run
    if (::mkdir(partial_.c_str(), 0700)) return System("mkdir " + partial_);
    owners_ = ::geteuid() == 0;
    merge_ = options_.merge || !CanMark(partial_);
    return {};
  }

  // A tar that holds a root file system.
  Result<image::ArchiveRecord> UnpackTar(ByteStream& stream, uint64_t size) {
    progress_ = {.done = 0, .total = size, .layer = 1, .layers = 1};
    ASSIGN_OR_RETURN(LayerOutcome outcome, ReadInto("tar", stream, LayerFile{}));
    image::ArchiveRecord record{.kind = runtime::RootKind::kTar, .config_digest = outcome.layer.diff_id};
    record.architecture = "";
    record.folders = {HexOf(outcome.layer.diff_id)};
    RETURN_IF_ERROR(NameLayer("tar", outcome.layer));
    record.layers = {outcome.layer};
    record.notes = outcome.notes;
    return record;
  }

  Result<image::ArchiveRecord> UnpackImage(const ImageSource& source) {
    ASSIGN_OR_RETURN(Layout layout, ReadLayout(source, options_.select));
    if (layout.layers.empty())
      return Error{Reason::kInvalid, "the image has no layers, so there is nothing to run"};
    if (layout.layers.size() > kMaxLayers)
      return Error{Reason::kInvalid,
                   "the image has " + std::to_string(layout.layers.size()) + " layers, and overlayfs takes " +
                       std::to_string(kMaxLayers),
                   "squash it: docker build --squash, or podman build --squash-all"};
    progress_.layers = static_cast<int>(layout.layers.size());
    for (const LayerFile& layer : layout.layers) progress_.total += source.SizeOf(layer.name);
    RETURN_IF_ERROR(merge_ ? Merge(source, layout) : Stack(source, layout));
    return std::move(layout.record);
  }

 private:
  // Each layer in a folder of its own.
  Result<void> Stack(const ImageSource& source, Layout& layout) {
    std::vector<std::pair<std::string, runtime::ImageLayer>> fresh;
    std::vector<std::string> folders;
    for (const LayerFile& file : layout.layers) {
      ++progress_.layer;
      const std::string hex = HexOf(file.diff_id);
      auto known = KnownLayer(store_ + "/" + hex);
      for (const auto& [name, layer] : fresh)
        if (name == hex) known = layer;
      if (!known) {
        ASSIGN_OR_RETURN(LayerOutcome outcome, ReadFrom(source, file, hex));
        AddNotes(outcome, layout.record);
        fresh.emplace_back(hex, outcome.layer);
        known = outcome.layer;
      } else {
        progress_.done += source.SizeOf(file.name);
      }
      layout.record.layers.push_back(*known);
      std::erase(folders, hex);  // overlayfs takes no folder twice, and the higher one covers the lower one
      folders.push_back(hex);
      lowers_.insert(lowers_.begin(), FolderOf(hex));
    }
    for (const auto& [hex, layer] : fresh) RETURN_IF_ERROR(NameLayer(hex, layer));
    layout.record.folders = std::move(folders);
    return {};
  }

  // Where a layer is now: not all have got their names yet.
  std::string FolderOf(const std::string& hex) const {
    const std::string fresh = partial_ + "/" + hex + "/fs";
    return fs::exists(fresh) ? fresh : store_ + "/" + hex + "/fs";
  }

  // All layers in one folder, where the file system cannot hold marks.
  Result<void> Merge(const ImageSource& source, Layout& layout) {
    std::string chain = "merged";
    for (const LayerFile& file : layout.layers) chain += "\n" + file.diff_id;
    const std::string hex = image::Sha256(chain);
    const bool known = KnownLayer(store_ + "/" + hex).has_value();
    for (const LayerFile& file : layout.layers) {
      ++progress_.layer;
      runtime::ImageLayer layer{.diff_id = file.diff_id, .digest = file.digest};
      if (!known) {
        ASSIGN_OR_RETURN(LayerOutcome outcome, ReadFrom(source, file, hex));
        AddNotes(outcome, layout.record);
        layer = outcome.layer;
      }
      layout.record.layers.push_back(layer);
    }
    layout.record.notes.push_back(
        "this file system cannot hold overlayfs' marks: the layers are merged into one");
    layout.record.folders = {hex};
    return known ? Result<void>() : NameLayer(hex, {.diff_id = "sha256:" + hex});
  }

  Result<LayerOutcome> ReadFrom(const ImageSource& source, const LayerFile& file, const std::string& name) {
    const auto read = TryReadFrom(source, file, name);
    if (read.ok()) return read;
    Error error = read.error();
    error.message = "layer " + std::to_string(progress_.layer) + " of " + std::to_string(progress_.layers) +
                    ", " + file.name + ": " + error.message;
    return error;
  }

  Result<LayerOutcome> TryReadFrom(const ImageSource& source, const LayerFile& file,
                                   const std::string& name) {
    const uint64_t size = source.SizeOf(file.name);
    if (file.size && size != file.size)
      return Error{Reason::kInvalid,
                   "it must have " + std::to_string(file.size) + " bytes and has " + std::to_string(size)};
    ASSIGN_OR_RETURN(const auto stream, source.Open(file.name));
    auto read = ReadInto(name, *stream, file);
    progress_.done += size;
    return read;
  }

  Result<LayerOutcome> ReadInto(const std::string& name, ByteStream& stream, const LayerFile& file) {
    const std::string folder = partial_ + "/" + name + "/fs";
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Error{.message = "mkdir " + folder + ": " + error.message()};
    LayerJob job{.folder = folder, .diff_id = file.diff_id, .digest = file.digest, .limits = options_.limits};
    job.writing = {merge_ ? Whiteouts::kRemoves : Whiteouts::kMarks, owners_, lowers_};
    job.progress = [this](uint64_t packed) {
      UnpackProgress now = progress_;
      now.done += packed;
      if (options_.progress) options_.progress(now);
    };
    return ReadLayer(stream, job, spent_);
  }

  // Once for all layers: it waits for everything that this file system has not written yet.
  Result<void> Sync() {
    if (std::exchange(synced_, true)) return {};
    const UniqueFd fd(::open(partial_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid() || ::syncfs(fd.get())) return System("sync " + partial_);
    return {};
  }

  // It is whole, on the disk, and gets the name under which it is used.
  Result<void> NameLayer(const std::string& name, const runtime::ImageLayer& layer) {
    const std::string from = partial_ + "/" + name, to = store_ + "/" + HexOf(layer.diff_id);
    std::ofstream(from + "/" + kLayerFile) << LayerText(layer);
    RETURN_IF_ERROR(Sync());
    if (KnownLayer(to)) return {};
    std::error_code ignored;
    fs::remove_all(to, ignored);  // not a whole layer
    if (::rename(from.c_str(), to.c_str())) return System("rename " + from + " to " + to);
    return {};
  }

  static void AddNotes(const LayerOutcome& outcome, image::ArchiveRecord& record) {
    record.notes.insert(record.notes.end(), outcome.notes.begin(), outcome.notes.end());
  }

  const UnpackOptions& options_;
  std::string store_, partial_;
  std::vector<std::string> lowers_;  // the highest first
  bool owners_ = true, merge_ = false, synced_ = false;
  Spent spent_;
  UnpackProgress progress_;
};

Result<image::ArchiveRecord> UnpackOpened(const UnpackOptions& options, UniqueFd source,
                                          const std::string& store) {
  struct stat status {};
  if (::fstat(source.get(), &status)) return System("stat");
  Unpacking unpacking(options, store);
  RETURN_IF_ERROR(unpacking.Prepare());
  if (S_ISDIR(status.st_mode)) return unpacking.UnpackImage(FolderSource(std::move(source)));
  FileStream whole(source.get());
  UniqueFd again(::fcntl(source.get(), F_DUPFD_CLOEXEC, 0));
  ASSIGN_OR_RETURN(const auto tar, TarSource::Open(std::move(again), store, options.limits.bytes));
  if (tar) return unpacking.UnpackImage(*tar);
  return unpacking.UnpackTar(whole, static_cast<uint64_t>(status.st_size));
}

}  // namespace

Result<image::ArchiveRecord> Unpack(const UnpackOptions& options) {
  UniqueFd source(::open(options.source.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.valid()) return System(options.source);
  std::string store = options.layers_folder;
  if (options.confine) {
    if (::chroot(store.c_str()) || ::chdir("/")) return System("chroot " + store);
    store = "/.";
  }
  auto record = UnpackOpened(options, std::move(source), store);
  if (!record.ok()) {
    Error error = record.error();
    error.message = options.source + ": " + error.message;
    return error;
  }
  record.value().source = options.source;
  record.value().select = options.select;
  return record;
}

}  // namespace tfemu::unpack
