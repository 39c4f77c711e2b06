// The image catalogue of this host: folders of image folders, searched in order.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emulator/io/asio_executor.h"
#include "runtime/image.h"

namespace tfemu::image {

struct ImageFoldersOptions {
  std::vector<std::string> folders;         // absolute; each holds image folders; the first has precedence
  std::string cache_folder;                 // absolute; environments and layers are made below it
  std::string python = "/usr/bin/python3";  // the host's own, so that pods on `root: host` see the same one
  std::string unpack_program = {};          // tfemu-unpack; "" finds it beside the program that runs
};

// Folders are read anew when a file in them has changed, so an edited image.yaml needs no restart.
class ImageFolders final : public runtime::ImageCatalog {
 public:
  ImageFolders(io::AsioExecutor& executor, ImageFoldersOptions options);
  ~ImageFolders() override;  // kills what Prepare has running; its `done` is not called

  Result<runtime::Image> Find(const std::string& reference) const override;
  std::vector<runtime::Image> List() const override;
  bool Ready(const runtime::Image& image) const override;
  void Prepare(const runtime::Image& image, std::function<void(const runtime::PrepareProgress&)> progress,
               std::function<void(Result<void>)> done) override;

  // What is wrong with image folders that List leaves out.
  std::vector<Error> Problems() const;
  const std::vector<std::string>& folders() const { return options_.folders; }

 private:
  struct Preparation;
  struct Cached;

  std::vector<const Cached*> Read() const;
  // With what is outside of its folder: its python environment, and what its archive says.
  Result<runtime::Image> Complete(runtime::Image image) const;
  Result<void> Start(const runtime::Image& image, Preparation& preparation, const std::string& key);
  Error Unknown(const std::string& reference, const std::vector<const Cached*>& images) const;

  io::AsioExecutor& executor_;
  ImageFoldersOptions options_;
  mutable std::map<std::string, std::unique_ptr<Cached>> cache_;      // by image folder
  std::map<std::string, std::shared_ptr<Preparation>> preparations_;  // by what is made
};

// cluster.yaml's folders, HOME/images, and the examples/images (or share/tfemu/images) beside the program
// that runs.
std::vector<std::string> DefaultImageFolders(const std::vector<std::string>& configured,
                                             const std::string& home);

// Prepare for a program without an event loop, such as `tfemu image prepare`. SIGINT and SIGTERM end it with
// kTimeout, with nothing left running.
Result<void> PrepareNow(const ImageFoldersOptions& options, const runtime::Image& image,
                        const std::function<void(const runtime::PrepareProgress&)>& progress);

}  // namespace tfemu::image
