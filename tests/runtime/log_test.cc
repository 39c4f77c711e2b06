// What containers write is in the file, whole, before their end is told.
#include <chrono>

#include "runtime/process/files.h"
#include "tests/runtime/fixture.h"

namespace tfemu::test {

TEST_SUITE("runtime") {
  TEST_CASE("lines of a megabyte and binary bytes arrive whole") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const auto exited = cluster.RunToEnd("pod-a", "10.244.0.5",
                                         "for i in 1 2 3; do head -c 1048576 /dev/zero | tr '\\0' a; echo; "
                                         "done; printf '\\000\\001\\377\\r\\n'; printf 'no end'");
    CHECK(exited.exit_code == 0);
    const std::string output = cluster.OutputOf("pod-a");
    const std::string line = std::string(1 << 20, 'a') + "\n";
    REQUIRE(output.size() == 3 * line.size() + 5 + 6);
    CHECK(output.substr(0, 3 * line.size()) == line + line + line);
    CHECK(output.substr(3 * line.size()) == std::string("\0\1\377\r\nno end", 11));
  }

  TEST_CASE("two streams at once are not mixed up") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.RunToEnd("pod-a", "10.244.0.5",
                     "i=0; while [ $i -lt 2000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done");
    std::string out, err;
    for (int i = 0; i < 2000; ++i) {
      out += "out " + std::to_string(i) + "\n";
      err += "err " + std::to_string(i) + "\n";
    }
    CHECK(cluster.OutputOf("pod-a") == out);
    CHECK(cluster.Output(cluster.Shell("pod-a", ""), runtime::Stream::kStderr) == err);
  }

  TEST_CASE("200 MB as fast as they come") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const auto begin = std::chrono::steady_clock::now();
    constexpr size_t kSize = 200'000'000;
    cluster.RunToEnd(
        "pod-a", "10.244.0.5",
        "yes 'a training line of ordinary length: step 100 loss 0.1' | head -c " + std::to_string(kSize));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    MESSAGE("log rate: ", kSize / 1e6 / seconds, " MB/s");
    CHECK(cluster.OutputOf("pod-a").size() == kSize);
  }

  TEST_CASE("what a daemonized process writes belongs to the container until PID 1 ends") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    cluster.RunToEnd("pod-a", "10.244.0.5",
                     "(setsid sh -c 'echo from the background; sleep 100' &) ; while ! pgrep sleep "
                     ">/dev/null; do :; done; echo end");
    CHECK(cluster.OutputOf("pod-a") == "from the background\nend\n");
  }
}

}  // namespace tfemu::test
