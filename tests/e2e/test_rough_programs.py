"""Programs and jobs that behave badly: the cluster goes on, says what is the matter, and nothing of them is left."""
import pathlib

from cluster import pod, tfjob

# By hand with 10,000: the kernel takes a minute to make them and eight seconds to end them, on two busy cores.
CHILDREN = "i=0; while [ $i -lt 2000 ]; do tail -f /dev/null %s & i=$((i+1)); done; echo all there; wait"


def runs(word):
    """Whether a process of the host has `word` as an argument."""
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if word.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    return True
            except OSError:
                continue
    return False


def test_thousands_of_children_go_with_their_pod(cluster):
    cluster.apply(pod("forks", CHILDREN % cluster.home.name))
    cluster.until(lambda: "all there" in cluster.run("logs", "forks", code=None).stdout, "the children", timeout=60)
    assert runs(cluster.home.name)
    cluster.apply(pod("other", "true"))
    cluster.until_phase("other", "Succeeded")
    cluster.run("delete", "pod", "forks", timeout=60)
    assert not runs(cluster.home.name)


def test_a_flood_of_output_stops_nobody_else(cluster):
    cluster.apply(pod("flood", "exec yes a line of a flood"))
    cluster.until(lambda: cluster.run("logs", "flood", "--tail", "2", code=None).stdout == "a line of a flood\n" * 2, "a flood")
    cluster.apply(pod("quiet", "echo heard"))
    cluster.until_phase("quiet", "Succeeded")
    assert cluster.run("logs", "quiet").stdout == "heard\n"
    cluster.run("delete", "pod", "flood")


def test_daemons_end_with_their_container(cluster):
    cluster.apply(pod("p", f"setsid sleep 600 & setsid tail -f /dev/null {cluster.home.name} & echo end"))
    cluster.until_phase("p", "Succeeded")
    assert not runs(cluster.home.name)


def test_a_job_that_is_too_large_waits_and_says_why(home):
    home.up("--nodes", "2", "--cpus", "4")
    home.apply(tfjob("big", "sleep 600", "resources: {requests: {cpu: 1}}", replicas=300))
    home.until(lambda: "0/2 nodes are available: 2 Insufficient cpu." in home.run(
        "describe", "pod", "big-worker-299", code=None).stdout, "a reason")
    running = [p for p in home.items("pods") if p["status"]["phase"] == "Running"]
    assert 0 < len(running) <= 8
    home.run("delete", "tfjob", "big", "--cascade=foreground", timeout=60)
    assert home.items("pods") == []
