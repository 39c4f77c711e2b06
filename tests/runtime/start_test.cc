// Starting, ending and what a container finds around it.
#include "tests/runtime/fixture.h"

namespace tfemu::test {

TEST_SUITE("runtime") {
  TEST_CASE("a container runs, prints and ends with its code") {
    SKIP_WITHOUT_ROOT();
    Cluster cluster;
    const auto exited = cluster.RunToEnd("pod-a", "10.244.0.5", "echo hello; hostname; echo no >&2; exit 3");
    CHECK(exited.exit_code == 3);
    CHECK(exited.signal == 0);
    CHECK(cluster.OutputOf("pod-a") == "hello\npod-a\n");
    CHECK(cluster.Output(cluster.Shell("pod-a", ""), runtime::Stream::kStderr) == "no\n");
    cluster.runtime().StopPod("pod-a");
    cluster.Await(Cluster::Type::kPodStopped, "pod-a");
  }
}

}  // namespace tfemu::test
