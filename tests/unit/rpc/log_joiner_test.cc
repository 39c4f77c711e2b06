// Records to the container's own bytes.
#include "emulator/rpc/log_joiner.h"

#include <doctest/doctest.h>

#include "runtime/log_format.h"

namespace tfemu::rpc {
namespace {

using runtime::Stream;

struct File {
  std::string text;
  int64_t now = 1'800'000'000'000'000'000;

  File& Add(std::string_view bytes, bool partial = false, Stream stream = Stream::kStdout) {
    runtime::AppendLogRecord(text, {Instant{now}, stream, partial, bytes});
    now += 1'000'000'000;
    return *this;
  }
};

std::string Join(const File& file, const JoinOptions& options = {}, size_t piece = 1 << 20) {
  LogJoiner joiner(options);
  std::string out;
  for (size_t at = 0; at < file.text.size(); at += piece)
    joiner.Feed(std::string_view(file.text).substr(at, piece), out);
  joiner.End(out);
  return out;
}

TEST_CASE("lines come out as they went in, however the file is cut") {
  File file;
  file.Add("one")
      .Add("")
      .Add(std::string("bin\0\xff\x01", 6))
      .Add("pie", true)
      .Add("ce", true)
      .Add("s")
      .Add("last", true);
  const std::string expected = "one\n\n" + std::string("bin\0\xff\x01", 6) + "\npieces\nlast";
  for (const size_t piece : {1, 2, 7, 39, 40, 41, 64, 1000}) {
    CAPTURE(piece);
    CHECK(Join(file, {}, piece) == expected);
  }
}

TEST_CASE("a long line is not torn by the other stream") {
  File file;
  file.Add("aaa", true)
      .Add("err", false, Stream::kStderr)
      .Add("bbb")
      .Add("E", true, Stream::kStderr)
      .Add("out")
      .Add("F", false, Stream::kStderr);
  CHECK(Join(file) == "err\naaabbb\nout\nEF\n");
}

TEST_CASE("a gap ends what was open, says so, and drops the torn record behind it") {
  File file;
  file.Add("begun", true);
  LogJoiner joiner({});
  std::string out;
  joiner.Feed(file.text, out);
  joiner.Gap(4096, out);
  joiner.Feed("ord\n" + File{}.Add("next").text, out);
  CHECK(out == "begun\ntfemu: 4096 bytes of older output were given up here: a log has a limit\nnext\n");
}

TEST_CASE("times and ages") {
  File file;
  file.Add("one").Add("two", true).Add("half").Add("three");
  CHECK(Join(file, {.timestamps = true}) ==
        "2027-01-15T08:00:00.000000000Z one\n2027-01-15T08:00:01.000000000Z "
        "twohalf\n2027-01-15T08:00:03.000000000Z three\n");
  CHECK(Join(file, {.since = Instant{1'800'000'003'000'000'000}}) == "three\n");
  CHECK(Join(file, {.since = Instant{1'900'000'000'000'000'000}}).empty());
}

TEST_CASE("lines of a megabyte are whole; what is no record is left out") {
  File file;
  const std::string big(1 << 20, 'x');
  for (size_t at = 0; at < big.size(); at += 16384) file.Add(std::string_view(big).substr(at, 16384), true);
  file.Add("end");
  CHECK(Join(file, {}, 4096) == big + "end\n");
  File torn;
  torn.text = "garbage\n\n";
  torn.Add("ok");
  CHECK(Join(torn) == "ok\n");
}

std::string Tail(const File& file, int64_t lines, size_t block) {
  TailFinder finder(lines);
  for (size_t end = file.text.size(); end > 0;) {
    const size_t begin = end > block ? end - block : 0;
    if (finder.FeedBackwards(std::string_view(file.text).substr(begin, end - begin), begin)) break;
    end = begin;
  }
  File rest;
  rest.text = file.text.substr(finder.offset());
  return Join(rest);
}

TEST_CASE("the last lines are found from the end") {
  File file;
  file.Add("1").Add("2a", true).Add("2b").Add("3").Add("4a", true).Add("4b", true).Add("4c");
  for (const size_t block : {1, 3, 17, 40, 41, 100, 10000}) {
    CAPTURE(block);
    CHECK(Tail(file, 1, block) == "4a4b4c\n");
    CHECK(Tail(file, 2, block) == "3\n4a4b4c\n");
    CHECK(Tail(file, 3, block) == "2a2b\n3\n4a4b4c\n");
    CHECK(Tail(file, 4, block) == "1\n2a2b\n3\n4a4b4c\n");
    CHECK(Tail(file, 9, block) == "1\n2a2b\n3\n4a4b4c\n");
  }
  file.Add("open", true);
  CHECK(Tail(file, 1, 16) == "open");
  CHECK(Tail(file, 2, 16) == "4a4b4c\nopen");
  file.text += "2027-01-15T08:00:03.00";  // being written
  CHECK(Tail(file, 1, 16) == "open");
}

}  // namespace
}  // namespace tfemu::rpc
