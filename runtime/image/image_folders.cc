// Looks references up and shares preparations; reading and making are done by the files beside this one.
#include "runtime/image/image_folders.h"

#include <signal.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>
#include <filesystem>
#include <optional>
#include <set>

#include "emulator/base/strings.h"
#include "runtime/image/archive_record.h"
#include "runtime/image/archive_unpack.h"
#include "runtime/image/image_file.h"
#include "runtime/image/python_environment.h"
#include "runtime/image/reference.h"
#include "runtime/image/unknown_image.h"

namespace tfemu::image {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

using ProgressSink = std::function<void(const runtime::PrepareProgress&)>;
using DoneSink = std::function<void(Result<void>)>;

// Changes when one of the files does that an image was read from.
std::string Stamp(const std::string& folder, const runtime::Image* image) {
  std::string stamp;
  std::vector<std::string> files = {folder + "/" + kImageFile};
  if (image && !image->requirements.empty()) files.push_back(image->requirements);
  for (const std::string& file : files) {
    std::error_code error;
    stamp += std::to_string(fs::last_write_time(file, error).time_since_epoch().count()) + ":" +
             std::to_string(fs::file_size(file, error)) + ";";
  }
  if (image && !image->archive.empty()) stamp += ArchiveKey(image->archive, image->select);
  return stamp;
}

}  // namespace

struct ImageFolders::Cached {
  std::string stamp;
  Result<runtime::Image> image;
};

struct ImageFolders::Preparation {
  std::vector<ProgressSink> progress;
  std::vector<DoneSink> done;
  asio::cancellation_signal cancel;
};

ImageFolders::ImageFolders(io::AsioExecutor& executor, ImageFoldersOptions options)
    : executor_(executor), options_(std::move(options)) {}

ImageFolders::~ImageFolders() {
  for (const auto& [folder, preparation] : preparations_) {
    preparation->progress.clear();
    preparation->done.clear();
    preparation->cancel.emit(asio::cancellation_type::terminal);
  }
}

std::vector<const ImageFolders::Cached*> ImageFolders::Read() const {
  std::vector<const Cached*> images;
  std::set<std::string> seen;
  for (const std::string& parent : options_.folders) {
    std::vector<std::string> folders;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(parent, absent)) {
      if (fs::is_regular_file(entry.path() / kImageFile)) folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    for (const std::string& folder : folders) {
      if (!seen.insert(folder).second) continue;
      std::unique_ptr<Cached>& cached = cache_[folder];
      const runtime::Image* known = cached && cached->image.ok() ? &cached->image.value() : nullptr;
      // A folder with a mistake is read again each time: the mistake may lie in a file that is not stamped.
      if (!known || cached->stamp != Stamp(folder, known)) {
        Result<runtime::Image> image = ReadImageFolder(folder);
        std::string stamp = Stamp(folder, image.ok() ? &image.value() : nullptr);
        cached = std::make_unique<Cached>(Cached{std::move(stamp), std::move(image)});
      }
      images.push_back(cached.get());
    }
  }
  return images;
}

Result<runtime::Image> ImageFolders::Find(const std::string& reference) const {
  ASSIGN_OR_RETURN(const Reference parsed, ParseReference(reference));
  const std::vector<const Cached*> images = Read();
  const runtime::Image* best = nullptr;
  size_t best_score = 0;
  for (const Cached* cached : images) {
    if (!cached->image.ok()) continue;
    for (const std::string& pattern : cached->image.value().references) {
      const std::optional<size_t> score = MatchPattern(pattern, parsed);
      if (!score || (best && *score <= best_score)) continue;
      best = &cached->image.value();
      best_score = *score;
    }
  }
  if (!best) return Unknown(reference, images);
  return Complete(*best);
}

Result<runtime::Image> ImageFolders::Complete(runtime::Image image) const {
  if (!image.requirements.empty()) {
    ASSIGN_OR_RETURN(auto environment,
                     PlanEnvironment(image.requirements, options_.cache_folder, options_.python));
    image.root.python_environment = environment.folder;
  }
  if (image.archive.empty()) return image;
  if (const auto record = LoadRecord(options_.cache_folder, ArchiveKey(image.archive, image.select)))
    Apply(*record, options_.cache_folder, image);
  return image;
}

Error ImageFolders::Unknown(const std::string& reference, const std::vector<const Cached*>& images) const {
  UnknownImage unknown{.reference = reference, .folders = options_.folders};
  for (const Cached* cached : images) {
    if (!cached->image.ok()) {
      unknown.problems.push_back(cached->image.error().message);
      continue;
    }
    const auto& patterns = cached->image.value().references;
    unknown.known.insert(unknown.known.end(), patterns.begin(), patterns.end());
  }
  return Describe(unknown);
}

std::vector<runtime::Image> ImageFolders::List() const {
  std::vector<runtime::Image> images;
  for (const Cached* cached : Read()) {
    if (!cached->image.ok()) continue;
    auto complete = Complete(cached->image.value());
    images.push_back(complete.ok() ? std::move(complete).value() : cached->image.value());
  }
  return images;
}

std::vector<Error> ImageFolders::Problems() const {
  std::vector<Error> problems;
  for (const Cached* cached : Read()) {
    if (!cached->image.ok()) problems.push_back(cached->image.error());
  }
  return problems;
}

bool ImageFolders::Ready(const runtime::Image& image) const {
  if (!image.archive.empty() && !image.unpacked) return false;
  return image.requirements.empty() || fs::is_directory(image.root.python_environment);
}

namespace {

// Each part is made only when it is missing.
asio::awaitable<Result<void>> MakeReady(std::optional<ArchiveUnpack> unpack,
                                        std::optional<PythonEnvironment> environment, ProgressSink progress) {
  if (unpack) {
    if (Result<void> unpacked = co_await UnpackArchive(*unpack, progress); !unpacked.ok()) co_return unpacked;
  }
  if (!environment) co_return Result<void>();
  co_return co_await MakeEnvironment(*environment, progress);
}

}  // namespace

Result<void> ImageFolders::Start(const runtime::Image& image, Preparation& preparation,
                                 const std::string& key) {
  std::optional<ArchiveUnpack> unpack;
  if (!image.archive.empty() && !image.unpacked) {
    std::string program = options_.unpack_program;
    if (program.empty()) {
      ASSIGN_OR_RETURN(program, FindUnpackProgram());
    }
    unpack = ArchiveUnpack{image.archive, image.select, image.limits, options_.cache_folder, program};
  }
  std::optional<PythonEnvironment> environment;
  if (!image.requirements.empty()) {
    ASSIGN_OR_RETURN(environment,
                     PlanEnvironment(image.requirements, options_.cache_folder, options_.python));
  }
  auto share_progress = [shared = preparations_[key]](const runtime::PrepareProgress& step) {
    for (const ProgressSink& sink : shared->progress) sink(step);
  };
  auto end = [this, key, shared = preparations_[key]](std::exception_ptr failure, Result<void> result) {
    if (shared->done.empty()) return;  // this object is gone
    if (failure) result = Error{.message = "making " + key + " was interrupted"};
    preparations_.erase(key);
    for (const DoneSink& sink : shared->done) sink(result);
  };
  asio::co_spawn(executor_.context(),
                 MakeReady(std::move(unpack), std::move(environment), std::move(share_progress)),
                 asio::bind_cancellation_slot(preparation.cancel.slot(), std::move(end)));
  return {};
}

void ImageFolders::Prepare(const runtime::Image& image, ProgressSink progress, DoneSink done) {
  const auto finish = [this, done](Result<void> result) { executor_.Post([done, result] { done(result); }); };
  if (Ready(image)) return finish({});
  std::string key = image.root.python_environment;
  if (!image.archive.empty() && !image.unpacked) key += "+" + ArchiveKey(image.archive, image.select);
  std::shared_ptr<Preparation> preparation = preparations_[key];
  const bool running = preparation != nullptr;
  if (!running) preparation = preparations_[key] = std::make_shared<Preparation>();
  if (progress) preparation->progress.push_back(std::move(progress));
  preparation->done.push_back(std::move(done));
  if (running) return;
  const auto started = Start(image, *preparation, key);
  if (started.ok()) return;
  preparations_.erase(key);
  finish(started.error());
}

std::vector<std::string> DefaultImageFolders(const std::vector<std::string>& configured,
                                             const std::string& home) {
  std::vector<std::string> folders = configured;
  folders.push_back(home + "/images");
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (fs::path place = program.parent_path(); !place.empty(); place = place.parent_path()) {
    for (const char* below : {"examples/images", "share/tfemu/images"}) {
      if (fs::is_directory(place / below, error)) {
        folders.push_back(place / below);
        return folders;
      }
    }
    if (place == place.root_path()) break;
  }
  return folders;
}

Result<void> PrepareNow(const ImageFoldersOptions& options, const runtime::Image& image,
                        const ProgressSink& progress) {
  asio::io_context context;
  io::AsioExecutor executor(context);
  ImageFolders images(executor, options);
  std::optional<Result<void>> outcome;
  asio::signal_set signals(context, SIGINT, SIGTERM);
  signals.async_wait([&](boost::system::error_code error, int) {
    if (error) return;
    outcome = Error{.reason = Reason::kTimeout, .message = "interrupted"};
    context.stop();
  });
  images.Prepare(image, progress, [&](Result<void> result) {
    outcome = std::move(result);
    context.stop();
  });
  context.run();
  CHECK_THAT(outcome);
  return *outcome;
}

}  // namespace tfemu::image
