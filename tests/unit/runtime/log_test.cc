// Records of log files, and the file that holds them.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "emulator/base/sim_executor.h"
#include "runtime/log_format.h"
#include "runtime/process/files.h"
#include "runtime/supervisor/log_file.h"

namespace tfemu {
namespace {

using runtime::Stream;

constexpr Instant kStart{1'796'063'565'744'221'000};

TEST_CASE("a record survives the way out and in") {
  for (const bool partial : {false, true})
    for (const Stream stream : {Stream::kStdout, Stream::kStderr}) {
      std::string line;
      runtime::AppendLogRecord(line, {kStart, stream, partial, std::string_view("a \0\xff b", 6)});
      REQUIRE(line.ends_with('\n'));
      line.pop_back();
      runtime::LogRecord record;
      REQUIRE(runtime::ParseLogRecord(line, record));
      CHECK(record.at == kStart);
      CHECK(record.stream == stream);
      CHECK(record.partial == partial);
      CHECK(record.bytes == std::string_view("a \0\xff b", 6));
    }
}

TEST_CASE("what is no record is refused") {
  runtime::LogRecord record;
  for (const char* line :
       {"", "x", "2026-11-30T18:32:45Z", "2026-11-30T18:32:45Z stdout", "2026-11-30T18:32:45Z stdout X y",
        "2026-11-30T18:32:45Z stdbad F y", "yesterday stdout F y"})
    CHECK_FALSE(runtime::ParseLogRecord(line, record));
  CHECK(runtime::ParseLogRecord("2026-11-30T18:32:45Z stderr F ", record));
  CHECK(record.bytes.empty());
}

TEST_CASE("a log file is made with its folders, and cut into records") {
  char folder[] = "/tmp/tfemu-unit-XXXXXX";
  REQUIRE(::mkdtemp(folder));
  const std::string path = runtime::LogPath(folder, "ns", "pod", "uid", "main", 2);
  CHECK(path == std::string(folder) + "/logs/ns/pod/uid/main/2.log");
  SimExecutor clock(kStart);
  supervisor::LogFile file(path, clock, [](const std::string&) {});
  REQUIRE(file.Open().ok());
  file.Append(Stream::kStdout, "one\ntwo");
  file.Append(Stream::kStdout, "\n\n");
  const std::string stamp = "2026-11-30T18:32:45.744221000Z stdout ";
  CHECK(process::ReadFile(path).value() ==
        stamp + "F one\n" + stamp + "P two\n" + stamp + "F \n" + stamp + "F \n");
  process::RemoveTree(folder);
}

TEST_CASE("past its limit a log gives its older half back, and says so once") {
  char folder[] = "/var/tmp/tfemu-unit-XXXXXX";  // on a disk: of a tmpfs st_blocks counts the same
  REQUIRE(::mkdtemp(folder));
  SimExecutor clock(kStart);
  std::vector<std::string> reports;
  const std::string path = runtime::LogPath(folder, "ns", "pod", "uid", "main", 0);
  constexpr int64_t kLimit = 1 << 20;
  supervisor::LogFile file(
      path, clock, [&](std::string text) { reports.push_back(std::move(text)); }, kLimit);
  REQUIRE(file.Open().ok());
  for (int i = 0; i < 100; ++i) {
    file.Append(Stream::kStdout, std::string(50'000, 'x') + "\n");
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK(status.st_blocks * 512 < kLimit + 100'000);
  }
  file.Append(Stream::kStdout, "the last\n");
  REQUIRE(reports.size() == 1);
  CHECK(reports[0] == "its log is larger than 1 MiB: older output is given up from now on");
  CHECK(process::ReadFile(path).value().ends_with("stdout F the last\n"));
  process::RemoveTree(folder);
}

TEST_CASE("a full disk is reported once, and does not stop anything") {
  SimExecutor clock(kStart);
  std::vector<std::string> reports;
  supervisor::LogFile file("/dev/full", clock, [&](std::string text) { reports.push_back(std::move(text)); });
  REQUIRE(file.Open().ok());
  for (int i = 0; i < 3; ++i) file.Append(Stream::kStdout, "lost\n");
  REQUIRE(reports.size() == 1);
  CHECK(reports[0] == "output is being lost: write /dev/full: No space left on device");
}

}  // namespace
}  // namespace tfemu
