"""Wrong input: one clear line with file, line and field; nothing changed, nothing left."""
import os
import socket

import pytest

from cluster import ROOT, TUTORIAL, pod, tfjob

PASTED = (TUTORIAL / "nas-pv.yaml").read_text().replace("  ", " \u00a0")  # as a web page gives it

POD = pod("p", "true")
REFUSED = {
    "not YAML": ("apiVersion: v1\nkind: [Pod\n", ":", "not YAML"),
    "tabs": ("apiVersion: v1\nkind: Pod\nmetadata:\n\tname: p\n", ":4", "tab"),
    "non-breaking spaces": (PASTED, ":4", "U+00A0"),
    "duplicate keys": ("apiVersion: v1\nkind: Pod\nkind: Pod\nmetadata: {name: p}\n", ":3", "kind"),
    "unknown kind": ("apiVersion: v1\nkind: Pot\nmetadata: {name: p}\n", ":2", "Pot"),
    "unknown apiVersion": ("apiVersion: kubeflow.org/v2\nkind: TFJob\nmetadata: {name: p}\n", ":1", "kubeflow.org/v2"),
    "no kind": ("apiVersion: v1\nmetadata: {name: p}\n", ":1", "kind"),
    "wrong type": (POD.replace('command: [sh, -c, "true"]', "command: 5"), ":10", "spec.containers[0].command"),
    "bad name": (POD.replace("name: p\n", "name: Bad_Name\n", 1), ":4", "metadata.name"),
    "no container tensorflow": (tfjob("j", "true").replace("name: tensorflow", "name: main"), "", "tensorflow"),
    "replicas is a text": (tfjob("j", "true").replace("replicas: 1", "replicas: many"), ":8", "replicas"),
    "unknown image": (pod("p", "true").replace("busybox:1", "nobody/knows:1"), ":9", "nobody/knows:1"),
    "image of wrong form": (pod("p", "true").replace("busybox:1", "No Image"), ":9", "image"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(cluster, case):
    text, line, word = REFUSED[case]
    done = cluster.apply(text, 1)
    first = done.stderr.splitlines()[0]
    assert first.startswith("error: ")
    assert f"manifest.yaml{line}" in first, done.stderr
    assert word in done.stderr
    assert "pod" not in done.stdout and "tfjob" not in done.stdout
    assert cluster.items("pods") == [] and cluster.items("tfjobs") == []


def test_unknown_image_says_where_and_what_to_write(cluster):
    done = cluster.apply(pod("p", "true").replace("busybox:1", "registry.example.com/team/knows:1"), 1)
    assert str(cluster.home / "images") in done.stderr
    assert str(ROOT / "examples/images") in done.stderr
    pasted = done.stderr[done.stderr.index("references:"):]
    cluster.write("images/pasted/image.yaml", pasted)
    cluster.apply(pod("p", "true").replace("busybox:1", "registry.example.com/team/knows:1"))
    cluster.until_phase("p", "Succeeded")


def test_one_bad_document_changes_nothing(cluster):
    cluster.apply(pod("good", "true") + "---\n" + pod("Bad_Name", "true"), 1)
    assert cluster.items("pods") == []


def test_negative_replicas_are_accepted_with_a_warning_as_on_a_cluster(cluster):
    done = cluster.apply(tfjob("j", "true").replace("replicas: 1", "replicas: -1"), None)
    assert "replicas" in done.stderr


def test_unknown_field_warns_and_strict_refuses(cluster):
    text = pod("p", "sleep 600").replace("  restartPolicy: Never\n", "  restartPolicy: Never\n  colour: red\n")
    done = cluster.apply(text, 1, "--strict")
    assert "spec.colour" in done.stderr and "manifest.yaml:7" in done.stderr
    assert cluster.items("pods") == []
    done = cluster.apply(text)
    assert "warning: " in done.stderr and "spec.colour" in done.stderr
    assert cluster.get("pod", "p")["spec"]["colour"] == "red"


def test_missing_claim_waits_and_says_so(cluster):
    cluster.apply(pod("p", "true", "volumeMounts: [{name: v, mountPath: /v}]",
                      "volumes: [{name: v, persistentVolumeClaim: {claimName: nowhere}}]"))
    cluster.until(lambda: 'persistentvolumeclaim "nowhere" not found' in cluster.run("describe", "pod", "p").stdout,
                  "reason")
    assert cluster.jsonpath("{.status.phase}", "pod", "p") == "Pending"


def test_volume_that_fits_no_claim(cluster):
    cluster.run("apply", "-f", TUTORIAL / "nas-pv.yaml")
    claim = (TUTORIAL / "nas-pvc.yaml").read_text().replace("storage: 5Gi", "storage: 50Gi")
    cluster.apply(claim)
    cluster.until(lambda: "storageclass" in cluster.run("describe", "pvc", "tf-mnist-nas").stdout.lower(), "reason")
    assert cluster.jsonpath("{.status.phase}", "pvc", "tf-mnist-nas") == "Pending"
    assert cluster.jsonpath("{.status.phase}", "pv", "tf-mnist-nas") == "Available"


def test_more_gpus_than_exist_wait_and_say_why(cluster):
    cluster.apply(pod("p", "true", "resources: {limits: {nvidia.com/gpu: 3}}"))
    cluster.until(lambda: "Insufficient nvidia.com/gpu" in cluster.run("describe", "pod", "p").stdout, "reason")
    assert "0/1 nodes are available" in cluster.run("events").stdout


def test_command_that_does_not_exist(cluster):
    cluster.apply(pod("p", "true").replace('[sh, -c, "true"]', "[no-such-program]"))
    cluster.until(lambda: cluster.get("pod", "p")["status"].get("phase") == "Failed", "end")
    state = cluster.get("pod", "p")["status"]["containerStatuses"][0]["state"]["terminated"]
    assert state["exitCode"] in (127, 128)
    assert "no-such-program" in state["message"]
    assert state["reason"] in ("StartError", "ContainerCannotRun")


def test_port_in_use(cluster):
    cluster.apply(pod("p", "sleep 600"))
    cluster.until_phase("p", "Running")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = cluster.run("port-forward", "pod/p", f"{port}:80", code=1, timeout=20)
    assert str(port) in done.stderr and "in use" in done.stderr


def test_no_permission_and_no_file(cluster):
    assert "nothing.yaml" in cluster.run("apply", "-f", "nothing.yaml", code=None).stderr
    assert cluster.run("apply", "-f", "nothing.yaml", code=None).returncode in (1, 2)


def test_state_folder_that_cannot_be_written(home):
    home.environment["TFEMU_HOME"] = "/proc/tfemu"
    done = home.run("up", code=1)
    assert "/proc/tfemu" in done.stderr


def test_full_disk(home):
    """The state lies on a full file system: the command says so, and nothing stays."""
    full = home.home / "full"
    full.mkdir()
    assert os.system(f"mount -t tmpfs -o size=64k tmpfs {full}") == 0
    try:
        (full / "filler").write_bytes(b"x" * 60000)
        home.environment["TFEMU_HOME"] = str(full)
        done = home.run("up", code=1)
        assert "space" in done.stderr.lower(), done.stderr
        home.until(lambda: not home.processes(), "end of the daemon")
    finally:
        os.system(f"umount {full}")


def test_a_manifest_of_50_megabytes(cluster):
    path = cluster.write("big.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n  text: |\n"
                         + ("    " + "x" * 1000 + "\n") * 52000)
    done = cluster.run("apply", "-f", path, code=1, timeout=60)
    assert "big.yaml" in done.stderr and len(done.stderr) < 2000
    assert cluster.run("get", "pods").returncode == 0


def test_usage_errors_end_with_2(home):
    for words in (("nonsense",), ("get",), ("up", "--nodes", "0"), ("logs", "p", "--tail=x")):
        assert home.run(*words, code=2).stderr.strip(), words
