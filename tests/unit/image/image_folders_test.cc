// Looking references up: order, precedence, edits, and what an unknown one is told.
#include "runtime/image/image_folders.h"

#include <doctest/doctest.h>

#include "temporary_folder.h"

namespace tfemu::image {
namespace {

struct Catalog {
  TemporaryFolder first, second;
  boost::asio::io_context context;
  io::AsioExecutor executor{context};
  ImageFolders images{executor,
                      {.folders = {first.path(), second.path()}, .cache_folder = first.path() + "/cache"}};

  std::string FolderOf(const std::string& reference) {
    const auto found = images.Find(reference);
    return found.ok() ? found.value().folder : "none";
  }
};

TEST_CASE("the most specific pattern wins, then the earlier folder") {
  Catalog catalog;
  catalog.first.Write("all/image.yaml", "references: [\"*/mnist:*\"]\n");
  catalog.second.Write("gpu/image.yaml", "references: [\"*/mnist:gpu\"]\n");
  catalog.second.Write("same/image.yaml", "references: [\"*/mnist:*\"]\n");
  CHECK(catalog.FolderOf("r.io/mnist:cpu") == catalog.first.path() + "/all");
  CHECK(catalog.FolderOf("r.io/mnist:gpu") == catalog.second.path() + "/gpu");
  CHECK(catalog.images.List().size() == 3);
}

TEST_CASE("an edited or new image.yaml is seen at once") {
  Catalog catalog;
  catalog.first.Write("a/image.yaml", "references: [a]\n");
  CHECK(catalog.FolderOf("a") != "none");
  catalog.first.Write("a/image.yaml", "references: [another]\n");
  CHECK(catalog.FolderOf("a") == "none");
  CHECK(catalog.FolderOf("another") != "none");
  catalog.first.Write("b/image.yaml", "references: [a]\n");
  CHECK(catalog.FolderOf("a") != "none");
}

TEST_CASE("an unknown image is told folders, near names and an image.yaml to paste") {
  Catalog catalog;
  catalog.first.Write("a/image.yaml", "references: [\"*/eci/tf-dist-mnist:*\"]\n");
  catalog.first.Write("broken/image.yaml", "refs: []\n");
  const auto found = catalog.images.Find("registry.example.com/team/tf-dist-mnits:1");
  REQUIRE_FALSE(found.ok());
  const Error& error = found.error();
  CHECK(error.reason == Reason::kNotFound);
  CHECK(error.message.find(catalog.first.path() + ", " + catalog.second.path()) != std::string::npos);
  CHECK(error.message.find("broken/image.yaml:1: ") != std::string::npos);
  CHECK(error.hint.find("near it: */eci/tf-dist-mnist:*") != std::string::npos);
  CHECK(error.hint.find(catalog.first.path() + "/tf-dist-mnits/image.yaml") != std::string::npos);
  // What the hint offers is an image.yaml that works.
  catalog.second.Write("pasted/image.yaml", error.hint.substr(error.hint.find("references:")));
  CHECK(catalog.FolderOf("registry.example.com/team/tf-dist-mnits:2") == catalog.second.path() + "/pasted");
}

TEST_CASE("a text that is no reference is invalid, not unknown") {
  Catalog catalog;
  const auto found = catalog.images.Find("Not An Image");
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().reason == Reason::kInvalid);
}

TEST_CASE("an image without requirements is ready") {
  Catalog catalog;
  catalog.first.Write("a/image.yaml", "references: [a]\n");
  const auto image = catalog.images.Find("a").value();
  CHECK(catalog.images.Ready(image));
  CHECK(image.root.python_environment.empty());
}

TEST_CASE("folders with a mistake are reported and left out") {
  Catalog catalog;
  catalog.first.Write("a/image.yaml", "references: [a]\n");
  catalog.first.Write("broken/image.yaml", "references: [b\n");
  CHECK(catalog.images.List().size() == 1);
  CHECK(catalog.images.Problems().size() == 1);
}

TEST_CASE("the default folders are the cluster's, the home's, and the examples beside the program") {
  const auto folders = DefaultImageFolders({"/mine"}, "/home/x/tfemu");
  REQUIRE(folders.size() >= 2);
  CHECK(folders[0] == "/mine");
  CHECK(folders[1] == "/home/x/tfemu/images");
}

}  // namespace
}  // namespace tfemu::image
