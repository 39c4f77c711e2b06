"""Clusters side by side, and what must be left of one that is down: nothing."""
import os
import pathlib
import subprocess

import pytest

from cluster import ROOT, TUTORIAL, Cluster, pod, tfjob


def namespaces_of(processes):
    found = set()
    for process in processes:
        for kind in ("net", "mnt", "pid", "uts", "ipc"):
            try:
                found.add(os.readlink(f"/proc/{process}/ns/{kind}"))
            except OSError:
                pass
    return found - {os.readlink(f"/proc/self/ns/{kind}") for kind in ("net", "mnt", "pid", "uts", "ipc")}


def all_namespaces():
    return namespaces_of([entry.name for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()])


def descendants(processes):
    """The processes and all that they started: a pod's environment does not name the home."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    found = set(processes)
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def alive(processes):
    """Those that run; what has ended and waits for the host's init to reap it is not ours any more."""
    found = {}
    for process in processes:
        try:
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)
            command = pathlib.Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue
        if fields[1].split()[0] != "Z":
            found[process] = command
    return found


def cgroups_with(processes):
    found = set()
    for process in processes:
        try:
            lines = pathlib.Path(f"/proc/{process}/cgroup").read_text().splitlines()
        except OSError:
            continue
        found |= {line.split(":", 2)[2] for line in lines}
    own = {line.split(":", 2)[2] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()}
    return {path for path in found - own if path != "/"}


def cgroup_folders(paths):
    roots = [pathlib.Path("/sys/fs/cgroup"), *pathlib.Path("/sys/fs/cgroup").glob("*")]
    return {str(root / path.lstrip("/")) for root in roots for path in paths
            if path != "/" and (root / path.lstrip("/")).is_dir()}


def host_links():
    return set(os.listdir("/sys/class/net"))


def test_down_leaves_nothing(home):
    links = host_links()
    home.up()
    manifest = "---\n".join(pod(f"p{n}", "sleep 600", "volumeMounts: [{name: v, mountPath: /v}]",
                                "volumes: [{name: v, emptyDir: {medium: Memory}}]") for n in range(3))
    home.apply(manifest)
    for n in range(3):
        home.until_phase(f"p{n}", "Running")
    family = descendants(home.processes())
    assert len(family) >= 5, "daemon, supervisor and three pods"
    namespaces, cgroups = namespaces_of(family), cgroups_with(family)
    assert namespaces
    home.run("down")
    assert not alive(family)
    assert not namespaces & all_namespaces()
    assert not [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
                if str(home.home) in line]
    assert host_links() <= links | {link for link in host_links() if "tfemu" not in link}
    assert not cgroup_folders(cgroups)
    assert not [path for path in home.home.rglob("*") if path.is_socket()]


def test_purge_removes_the_state(home):
    home.up()
    assert (home.home / home.name).exists()
    home.run("down", "--purge")
    assert not (home.home / home.name).exists()


def test_objects_survive_down_and_up(home):
    home.up()
    home.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\ndata: {a: b}\n")
    home.run("down")
    home.up()
    assert home.get("configmap", "kept")["data"] == {"a": "b"}


@pytest.mark.usefixtures("prepared")
def test_two_clusters_train_side_by_side():
    with Cluster("one") as one, Cluster("two") as two:
        for cluster in (one, two):
            cluster.up("--gpus", "2")
            for name in ("nas-pv", "nas-pvc", "tf-mnist-gpu"):
                cluster.run("apply", "-f", TUTORIAL / f"{name}.yaml")
        for cluster in (one, two):
            cluster.run("wait", "--for=condition=Succeeded", "tfjob/tf-mnist-gpu", "--timeout=180s", timeout=190)
            assert "test accuracy" in cluster.run("logs", "tf-mnist-gpu-master-0").stdout


def test_a_second_up_says_so(cluster):
    done = cluster.run("up", "--gpus", "2")
    assert "already up" in done.stderr + done.stdout
    refused = cluster.run("up", "--gpus", "3", code=1)
    assert "already up" in refused.stderr


def test_without_a_daemon_every_verb_says_how_to_start_one(home):
    for words in (("get", "pods"), ("info",), ("apply", "-f", TUTORIAL / "nas-pv.yaml"), ("logs", "x")):
        done = home.run(*words, code=1)
        assert "tfemu up" in done.stderr, words
        assert done.stderr.startswith("error: ")


def test_with_root_there_is_one_address_space_per_cluster():
    """Both clusters may use the same pod addresses: neither sees the other's."""
    with Cluster("left") as left, Cluster("right") as right:
        for cluster in (left, right):
            cluster.up()
            cluster.apply(pod("server", "sleep 600"))
            cluster.until_phase("server", "Running")
        listed = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
        assert "eth0@" not in listed or listed.count("eth0@") <= 1


def test_a_described_cluster_has_its_nodes(home):
    home.up("--config", ROOT / "manifests/three-nodes.yaml")
    nodes = {node["metadata"]["name"]: node for node in home.items("nodes")}
    assert sorted(nodes) == ["cpu-1", "gpu-1", "gpu-2"]
    assert nodes["gpu-1"]["status"]["allocatable"]["nvidia.com/gpu"] == "1"
    assert "nvidia.com/gpu" not in nodes["cpu-1"]["status"]["allocatable"]
    home.apply(tfjob("job", "sleep 600", "resources: {limits: {nvidia.com/gpu: 1}}"))
    home.until_phase("job-worker-0", "Running")
    assert home.jsonpath("{.spec.nodeName}", "pod", "job-worker-0") == "gpu-1", "gpu-2 is tainted"
