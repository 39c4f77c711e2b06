"""The tutorial, unchanged: volumes, the distributed job with real TensorFlow, and TensorBoard."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from cluster import TUTORIAL, Cluster

JOB_LIMIT_SECONDS = 20  # from apply to Succeeded on two idle cores; CI allows for a busy machine
SLOWDOWN = float(os.environ.get("TFEMU_TEST_SLOWDOWN", "3"))


@pytest.fixture(scope="module")
def trained(prepared):
    """The job has run; what it left is looked at by the tests."""
    with Cluster("tutorial") as made:
        made.up("--gpus", "2")
        made.run("apply", "-f", TUTORIAL / "nas-pv.yaml")
        made.run("apply", "-f", TUTORIAL / "nas-pvc.yaml")
        started = time.monotonic()
        made.run("apply", "-f", TUTORIAL / "tf-mnist-gpu.yaml")
        made.run("wait", "--for=condition=Succeeded", "tfjob/tf-mnist-gpu", "--timeout=120s", timeout=130)
        made.seconds = time.monotonic() - started
        yield made


def test_claim_is_bound_to_the_volume(trained):
    claim = trained.get("pvc", "tf-mnist-nas")
    assert claim["status"]["phase"] == "Bound"
    assert claim["spec"]["volumeName"] == "tf-mnist-nas"
    assert trained.get("pv", "tf-mnist-nas")["status"]["phase"] == "Bound"


def test_job_succeeds_in_time(trained):
    conditions = {c["type"]: c["status"] for c in trained.get("tfjob", "tf-mnist-gpu")["status"]["conditions"]}
    assert conditions == {"Created": "True", "Running": "False", "Succeeded": "True"}
    print(f"apply to Succeeded: {trained.seconds:.1f} s")
    assert trained.seconds <= JOB_LIMIT_SECONDS * SLOWDOWN


def test_master_logs_show_cluster_and_training(trained):
    text = trained.run("logs", "tf-mnist-gpu-master-0", "--tail=150").stdout
    assert '"tf-mnist-gpu-ps-0.default.svc:2222"' in text
    assert re.search(r"step \d+: loss [\d.]+, accuracy [\d.]+, \d+ images/sec", text)
    accuracy = re.search(r"test accuracy ([\d.]+) on 10000 images", text)
    assert accuracy and float(accuracy[1]) > 0.75


def test_worker_ends_by_itself(trained):
    trained.until_phase("tf-mnist-gpu-worker-0", "Succeeded", timeout=20)
    assert re.search(r"worker-0 made \d+ steps", trained.run("logs", "tf-mnist-gpu-worker-0").stdout)


def test_event_files_are_on_the_nas_and_readable_from_the_host(trained):
    found = [path for path in trained.home.rglob("events.out.tfevents.*") if path.parts[-4:-2] == ("tensorflow", "logs")]
    assert found, [str(path) for path in trained.home.rglob("*")][:50]
    assert all(path.stat().st_size > 0 for path in found)
    inside = trained.run("exec", "tf-mnist-gpu-ps-0", "--", "ls", "/training/tensorflow/logs/train").stdout
    assert "events.out.tfevents." in inside


def test_logs_of_a_job_are_one_stream_with_names(trained):
    text = trained.run("logs", "tfjob/tf-mnist-gpu").stdout
    for pod in ("master-0", "ps-0", "worker-0"):
        assert re.search(rf"tf-mnist-gpu-{pod}\b.*ClusterSpec", text), pod


@pytest.fixture(scope="module")
def tensorboard(trained):
    trained.run("apply", "-f", TUTORIAL / "tensorboard.yaml")
    trained.run("wait", "--for=condition=Available", "deployment/tensorboard", "--timeout=60s", timeout=70)
    forward = trained.start("port-forward", "deployment/tensorboard", "0:6006")
    try:
        line = forward.stdout.readline()
        port = re.search(r"127\.0\.0\.1:(\d+)", line)
        assert port, line + (forward.stderr.read() if forward.poll() is not None else "")
        yield f"http://127.0.0.1:{port[1]}"
    finally:
        forward.terminate()
        forward.wait(10)


def fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.read()
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return b""


def test_tensorboard_lists_the_run(trained, tensorboard):
    runs = trained.until(lambda: (b"train" in (text := fetch(f"{tensorboard}/data/runs"))) and text, "run", 60)
    assert {"train", "test"} <= set(json.loads(runs))
    tags = json.loads(fetch(f"{tensorboard}/data/plugin/scalars/tags"))
    assert {"loss", "accuracy"} <= set(tags["train"])


def test_tensorboard_has_names_as_on_a_cluster(trained, tensorboard):
    deployment = trained.get("deployment", "tensorboard")
    assert deployment["status"]["availableReplicas"] == 1
    (pod,) = trained.items("pods", "-l", "app=tensorboard")
    assert re.fullmatch(r"tensorboard-[0-9a-z]{8,10}-[0-9a-z]{5}", pod["metadata"]["name"])


@pytest.mark.skipif(not shutil.which("chromium"), reason="no chromium")
def test_screenshot_shows_the_curve(trained, tensorboard, tmp_path):
    trained.until(lambda: b"train" in fetch(f"{tensorboard}/data/runs"), "run", 60)
    picture = pathlib.Path(os.environ.get("TFEMU_SCREENSHOT", tmp_path / "tensorboard.png"))
    subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    f"--user-data-dir={tmp_path}/profile", "--window-size=1200,800", "--virtual-time-budget=30000",
                    f"--screenshot={picture}", f"{tensorboard}/?darkMode=false#scalars&_smoothingWeight=0"],
                   check=True, timeout=120, capture_output=True)
    assert picture.stat().st_size > 20000
