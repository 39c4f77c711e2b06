// Environments are really made, with the host's python and pip, from a wheel that the build made.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "runtime/image/image_folders.h"
#include "temporary_folder.h"

namespace tfemu::image {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct Catalog {
  TemporaryFolder folder;
  boost::asio::io_context context;
  io::AsioExecutor executor{context};
  ImageFoldersOptions options{.folders = {folder.path()}, .cache_folder = folder.path() + "/cache"};
  ImageFolders images{executor, options};

  runtime::Image Add(const std::string& name, const std::string& requirements) {
    folder.Write(name + "/requirements.txt", requirements);
    folder.Write(name + "/image.yaml",
                 "references: [" + name + "]\npython: {requirements: requirements.txt}\n");
    return images.Find(name).value();
  }
};

std::string TinyRequirements() {
  const char* wheel = getenv("TINY_WHEEL");
  REQUIRE_MESSAGE(wheel, "meson sets TINY_WHEEL");
  return std::string("--no-index\n") + wheel + "\n";
}

TEST_CASE("an environment is made once for all who ask, and its scripts work where pods see it") {
  Catalog catalog;
  const runtime::Image image = catalog.Add("tiny", TinyRequirements());
  const runtime::Image twin = catalog.Add("twin", TinyRequirements());
  CHECK(image.root.python_environment == twin.root.python_environment);
  CHECK_FALSE(catalog.images.Ready(image));
  // What a killed run left behind must not be in the way.
  const fs::path environment = image.root.python_environment;
  fs::create_directories(environment.string() + ".partial/bin");
  std::ofstream(environment.string() + ".partial/bin/stale") << "x";

  int done = 0;
  runtime::PrepareProgress last;
  const auto progress = [&](const runtime::PrepareProgress& step) {
    CHECK(step.done <= step.total);
    CHECK(step.done >= last.done);
    last = step;
  };
  const auto finish = [&](Result<void> result) {
    CHECK_MESSAGE(result.ok(), result.error().message);
    ++done;
  };
  catalog.images.Prepare(image, progress, finish);
  catalog.images.Prepare(twin, nullptr, finish);
  catalog.context.run();
  CHECK(done == 2);
  CHECK(last.done == last.total);
  CHECK(last.text == "ready");
  CHECK(catalog.images.Ready(image));
  CHECK_FALSE(fs::exists(environment.string() + ".partial"));
  CHECK_FALSE(fs::exists(environment / "bin/stale"));
  CHECK(fs::exists(environment / "bin/python"));
  CHECK(fs::exists(environment / "bin/python3"));
  CHECK(fs::read_symlink(environment / "bin/python3") == "/usr/bin/python3");
  CHECK(ReadAll(environment / "bin/tiny").starts_with("#!/opt/venv/bin/python3\n"));

  catalog.context.restart();
  catalog.images.Prepare(image, nullptr, finish);
  catalog.context.run();
  CHECK(done == 3);
}

TEST_CASE("pip's own error comes through, and a corrected file is another environment") {
  Catalog catalog;
  const runtime::Image image = catalog.Add("wrong", "--no-index\nno-such-package==1\n");
  const Result<void> prepared = PrepareNow(catalog.options, image, nullptr);
  REQUIRE_FALSE(prepared.ok());
  CHECK(prepared.error().message.find("no-such-package==1") != std::string::npos);
  CHECK(prepared.error().hint.find("correct it") != std::string::npos);
  CHECK_FALSE(catalog.images.Ready(image));
  CHECK(catalog.Add("wrong", TinyRequirements()).root.python_environment != image.root.python_environment);
}

TEST_CASE("a lock that another process holds is waited for") {
  Catalog catalog;
  const runtime::Image image = catalog.Add("tiny", TinyRequirements());
  const fs::path environment = image.root.python_environment;
  fs::create_directories(environment.parent_path());
  const int other = open((environment.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(flock(other, LOCK_EX) == 0);
  bool waited = false;
  bool done = false;
  const auto progress = [&](const runtime::PrepareProgress& step) {
    if (waited || step.text.find("waiting") == std::string::npos) return;
    waited = true;
    fs::create_directories(environment);  // the other one has made it
    close(other);
  };
  catalog.images.Prepare(image, progress, [&](Result<void> result) { done = result.ok(); });
  catalog.context.run();
  CHECK(waited);
  CHECK(done);
}

TEST_CASE("a catalogue that goes away kills what it was making") {
  TemporaryFolder folder;
  boost::asio::io_context context;
  io::AsioExecutor executor(context);
  auto images = std::make_unique<ImageFolders>(
      executor, ImageFoldersOptions{.folders = {folder.path()}, .cache_folder = folder.path() + "/cache"});
  folder.Write("tiny/requirements.txt", TinyRequirements());
  folder.Write("tiny/image.yaml", "references: [tiny]\npython: {requirements: requirements.txt}\n");
  const runtime::Image image = images->Find("tiny").value();
  const auto never = [](Result<void>) { FAIL("done must not be called"); };
  images->Prepare(
      image, [&](const runtime::PrepareProgress&) { executor.Post([&] { images.reset(); }); }, never);
  context.run();
  CHECK_FALSE(fs::exists(image.root.python_environment));
  // Nobody holds the lock: no child is left.
  const int lock = open((image.root.python_environment + ".lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(lock >= 0);
  CHECK(flock(lock, LOCK_EX | LOCK_NB) == 0);
  close(lock);
}

}  // namespace
}  // namespace tfemu::image
