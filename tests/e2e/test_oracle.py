"""The tutorial's job against a recording of the real operator: equal field by field, but for what is listed here."""
import pathlib
import re

import pytest
import yaml

from cluster import TUTORIAL, Cluster

RECORDING = pathlib.Path(__file__).parents[1] / "golden/oracle/tutorial/03-master-succeeded.yaml"
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
# Left out: set by a clock, a random generator, the kubelet or the scheduler's choice of a node.
DROPPED_KEYS = {"uid", "resourceVersion", "nodeName", "firstTimestamp", "lastTimestamp",
                "eventTime", "managedFields"}


def normalise(value, key=""):
    if isinstance(value, dict):
        return {name: normalise(inner, name) for name, inner in value.items() if name not in DROPPED_KEYS}
    if isinstance(value, list):
        return [normalise(inner) for inner in value]
    if isinstance(value, str):
        if TIMES.fullmatch(value):
            return "TIME"
        value = re.sub(r"kube-api-access-\w{5}", "kube-api-access-XXXXX", value)
        return re.sub(r" to \S+$", " to NODE", value) if key == "message" else value
    return value


def by_name(items, kind):
    found = {}
    for item in items:
        if item["kind"] == kind and item["metadata"]["name"] != "kubernetes":
            item = normalise(item)
            if kind == "Pod":
                del item["status"]
                # Which GPUs it got: kept by the kubelet on a cluster, on the pod here (docs/gpus.md).
                item["metadata"].get("annotations", {}).pop("tfemu.dev/gpus", None)
                if not item["metadata"].get("annotations", True):
                    del item["metadata"]["annotations"]
            found[item["metadata"]["name"]] = item
    return found


@pytest.fixture(scope="module")
def recorded():
    return yaml.safe_load(RECORDING.read_text())["items"]


@pytest.fixture(scope="module")
def made(prepared):
    with Cluster("oracle") as cluster:
        cluster.up("--gpus", "2")
        for name in ("nas-pv", "nas-pvc", "tf-mnist-gpu"):
            cluster.run("apply", "-f", TUTORIAL / f"{name}.yaml")
        cluster.run("wait", "--for=condition=Succeeded", "tfjob/tf-mnist-gpu", "--timeout=120s", timeout=130)
        cluster.until(lambda: "active" not in str(cluster.get("tfjob", "tf-mnist-gpu")["status"]), "final status")
        cluster.found = [item for kind in ("tfjobs", "pods", "services", "events") for item in cluster.items(kind)]
        yield cluster


def test_tfjob(made, recorded):
    ours, theirs = by_name(made.found, "TFJob"), by_name(recorded, "TFJob")
    for jobs in (ours, theirs):
        jobs["tf-mnist-gpu"]["metadata"].get("annotations", {}).pop(
            "kubectl.kubernetes.io/last-applied-configuration", None)  # theirs was created, ours applied
        if not jobs["tf-mnist-gpu"]["metadata"].get("annotations"):
            jobs["tf-mnist-gpu"]["metadata"].pop("annotations", None)
    assert ours == theirs


@pytest.mark.parametrize("role", ["master", "ps", "worker"])
def test_pod(made, recorded, role):
    name = f"tf-mnist-gpu-{role}-0"
    assert by_name(made.found, "Pod")[name] == by_name(recorded, "Pod")[name]


@pytest.mark.parametrize("role", ["master", "ps", "worker"])
def test_service(made, recorded, role):
    name = f"tf-mnist-gpu-{role}-0"
    assert by_name(made.found, "Service")[name] == by_name(recorded, "Service")[name]


def events_of(items, newest_job):
    """(type, reason, object, message) of the operator's and the scheduler's events, in order of name for equal ones."""
    found = []
    for item in items:
        involved = item.get("involvedObject", {})
        if item["kind"] != "Event" or involved.get("kind") == "Node":
            continue
        if involved["kind"] == "TFJob" and newest_job and involved.get("uid") != newest_job:
            continue  # the recording holds an earlier run of the same job
        if item["reason"] in ("Pulling", "Pulled", "Created", "Started", "Killing"):
            continue  # a kubelet's
        if item["message"] == "Pod: default.tf-mnist-gpu-worker-0 exited with code 0":
            continue  # a real worker ends; the recorded one was never told to
        if involved["kind"] in ("TFJob", "Pod"):
            found.append((item["type"], item["reason"], involved["kind"], involved["name"],
                          normalise(item["message"], "message")))
    return sorted(set(found))


def test_events(made, recorded):
    job = next(item["metadata"]["uid"] for item in recorded if item["kind"] == "TFJob")
    assert events_of(made.found, None) == events_of(recorded, job)


def test_tf_config_inside_each_pod_is_the_recorded_one(made, recorded):
    for item in recorded:
        if item["kind"] != "Pod":
            continue
        (theirs,) = [entry["value"] for entry in item["spec"]["containers"][0]["env"] if entry["name"] == "TF_CONFIG"]
        name = item["metadata"]["name"]
        (pod,) = made.items("pod", name)
        (ours,) = [entry["value"] for entry in pod["spec"]["containers"][0]["env"] if entry["name"] == "TF_CONFIG"]
        assert ours == theirs
        if pod["status"]["phase"] == "Running":
            inside = made.run("exec", name, "--", "sh", "-c", 'printf %s "$TF_CONFIG"').stdout
            assert inside == theirs
