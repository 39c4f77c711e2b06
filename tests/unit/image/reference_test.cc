// References as Docker reads them, and which patterns answer.
#include "runtime/image/reference.h"

#include <doctest/doctest.h>

namespace tfemu::image {
namespace {

TEST_CASE("references are read as Docker reads them") {
  struct Row {
    const char *text, *repository, *familiar, *tag;
  };
  for (const Row& row : {
           Row{"busybox", "docker.io/library/busybox", "busybox", "latest"},
           Row{"docker.io/library/busybox:1", "docker.io/library/busybox", "busybox", "1"},
           Row{"cheyang/mnist:gpu", "docker.io/cheyang/mnist", "cheyang/mnist", "gpu"},
           Row{"index.docker.io/a/b", "docker.io/a/b", "a/b", "latest"},
           Row{"localhost:5000/a/b:v1", "localhost:5000/a/b", "localhost:5000/a/b", "v1"},
           Row{"localhost:5000/a", "localhost:5000/a", "localhost:5000/a", "latest"},
           Row{"r.example.com/eci/x@sha256:00", "r.example.com/eci/x", "r.example.com/eci/x", "latest"},
       }) {
    CAPTURE(row.text);
    const auto reference = ParseReference(row.text);
    REQUIRE(reference.ok());
    CHECK(reference.value().repository == row.repository);
    CHECK(reference.value().familiar == row.familiar);
    CHECK(reference.value().tag == row.tag);
  }
}

TEST_CASE("what is no reference is refused") {
  for (const char* text : {"", "Upper/case", "a b", "a//b", "/a", "a/", "a:", "a:-x", "-a", "a:b c"}) {
    CAPTURE(text);
    const auto reference = ParseReference(text);
    CHECK_FALSE((reference.ok() && reference.value().repository != "Upper/case"));
  }
}

TEST_CASE("patterns match both ways to write a reference") {
  const auto match = [](const char* pattern, const char* text) {
    return MatchPattern(pattern, ParseReference(text).value()).has_value();
  };
  CHECK(match("*/eci/tf-dist-mnist:*", "registry.cn-beijing.aliyuncs.com/eci/tf-dist-mnist:gpu"));
  CHECK(match("tensorflow/tensorflow:*", "tensorflow/tensorflow:1.7.0"));
  CHECK(match("tensorflow/tensorflow:*", "docker.io/tensorflow/tensorflow"));
  CHECK(match("docker.io/library/busybox:*", "busybox"));
  CHECK(match("busybox", "busybox:1.36"));
  CHECK(match("a:1.?", "a:1.5"));
  CHECK_FALSE(match("a:1.?", "a:1.15"));
  CHECK_FALSE(match("busybox:1", "busybox"));
  CHECK_FALSE(match("busybox", "cheyang/busybox"));
}

TEST_CASE("more literal characters are more specific") {
  const Reference reference = ParseReference("r.example.com/eci/mnist:gpu").value();
  CHECK(*MatchPattern("*/mnist:gpu", reference) > *MatchPattern("*/mnist:*", reference));
  CHECK(*MatchPattern("r.example.com/*", reference) > *MatchPattern("*", reference));
}

}  // namespace
}  // namespace tfemu::image
