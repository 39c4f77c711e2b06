"""tfemu run: the job as one command."""
import re
import signal
import time
import xml.etree.ElementTree

from cluster import ROOT, TUTORIAL, pod, tfjob


def test_tutorial_as_one_command(home, prepared):
    done = home.run("run", "--gpus", "2", TUTORIAL, "--timeout", "3m", timeout=200)
    accuracy = re.search(r"tf-mnist-gpu-master-0\b.*test accuracy ([\d.]+) on 10000 images", done.stdout)
    assert accuracy and float(accuracy[1]) > 0.75
    assert re.search(r"tf-mnist-gpu-ps-0\b.*ClusterSpec", done.stdout)
    assert not home.processes(), "the cluster that run started is gone with it"


def test_exit_codes(home):
    ok = home.write("ok.yaml", tfjob("ok", "echo trained"))
    done = home.run("run", ok)
    assert "trained" in done.stdout
    failing = home.write("failing.yaml", tfjob("failing", "echo oh >&2; exit 7"))
    assert "oh" in home.run("run", failing, code=1).stdout
    home.run("run", home.write("wrong.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: Bad_Name}\n"), code=2)
    home.run("run", home.home / "nothing.yaml", code=2)
    slow = home.write("slow.yaml", tfjob("slow", "sleep 600"))
    home.run("run", "--timeout", "1s", slow, code=124)
    unknown = home.write("unknown.yaml", tfjob("unknown", "true", image="nobody/knows:1"))
    assert "nobody/knows:1" in home.run("run", unknown, code=3).stderr
    assert not home.processes()


def test_more_gpus_than_exist_ends_with_3(home):
    job = home.write("gpus.yaml", tfjob("gpus", "true", "resources: {limits: {nvidia.com/gpu: 4}}"))
    done = home.run("run", "--gpus", "2", job, "--timeout", "30s", code=3)
    assert "nvidia.com/gpu" in done.stderr
    assert not home.processes()


def test_run_in_a_running_cluster_cleans_what_it_made(cluster):
    cluster.run("run", cluster.write("ok.yaml", tfjob("ok", "echo trained")))
    assert cluster.items("tfjobs") == []
    assert cluster.items("pods") == []
    cluster.run("run", "--keep", cluster.write("kept.yaml", tfjob("kept", "true")))
    assert [item["metadata"]["name"] for item in cluster.items("tfjobs")] == ["kept"]


def test_interrupt_cleans_up(home):
    job = home.write("slow.yaml", tfjob("slow", "echo started; sleep 600"))
    running = home.start("run", job)
    while "started" not in (line := running.stdout.readline()):
        assert line, running.stderr.read()
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == 130
    assert not home.processes()


def test_junit_and_logs(home):
    job = home.write("ok.yaml", tfjob("ok", "echo trained"))
    home.run("run", job, "--junit", "out.xml", "--logs", "logs")
    suite = xml.etree.ElementTree.parse(home.home / "out.xml").getroot()
    assert suite.find(".//testcase").get("name")
    assert any("trained" in path.read_text() for path in (home.home / "logs").rglob("*") if path.is_file())


def test_a_pod_alone(home):
    started = time.monotonic()
    home.run("run", home.write("pod.yaml", pod("hello", "echo hello")))
    assert time.monotonic() - started < 15


def test_examples_are_the_tutorial_unchanged():
    assert sorted(path.name for path in (ROOT / "examples/tutorial").iterdir()) == [
        "nas-pv.yaml", "nas-pvc.yaml", "tensorboard.yaml", "tf-mnist-gpu.yaml"]
