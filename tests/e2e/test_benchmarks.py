"""The benchmark image and tfemu sweep: real computing, modelled computing on virtual GPUs, resuming, interrupts."""
import csv
import json
import re
import signal

import pytest
import yaml

from cluster import ROOT, tfjob

MANIFEST = ROOT / "examples/benchmarks/tf-benchmarks-gpu.yaml"
IMAGE = "registry-vpc.cn-beijing.aliyuncs.com/eci/tf-benchmarks-gpu:1.0"
STEP = re.compile(r"\| (\d+)\timages/sec: ([0-9.]+) \+/- ([0-9.]+) \(jitter = ([0-9.]+)\)\t([0-9.]+|nan)")
CLUSTER = ("--cpus", "64", "--gpus", "2", "--gpu-model", "A10")
SHORT = ("--set", "arg:--num_batches=3", "--set", "arg:--num_warmup_batches=1", "--timeout", "60s")


@pytest.fixture(scope="module", autouse=True)
def environment(prepared):
    """tf-dist-mnist's environment is this image's, so there is nothing more to prepare."""


def logs(folder, pod):
    (found,) = folder.glob(f"logs/*/*{pod}/*.log")
    return found.read_text()


def test_two_workers_compute_for_real(home):
    home.run("sweep", MANIFEST, *CLUSTER, *SHORT, "--set", "Worker.replicas=2", "--set", "arg:--device=cpu",
             "--set", "arg:--model=trivial", "--set", "arg:--batch_size=4", "--output", "out", timeout=80)
    folder = home.home / "out"
    for worker in ("worker-0", "worker-1"):
        text = logs(folder, worker)
        assert [match[0] for match in STEP.findall(text)] == ["1"]
        assert re.search(r"\| total images/sec: [0-9.]+\n", text)
        assert "modelled" not in text.replace('"compute": "real"', "")
    assert "Running parameter server 0" in logs(folder, "ps-0")
    assert not home.processes()


def test_virtual_gpus_wait_and_the_sweep_goes_on_where_it_was(home):
    # 8192 pictures: 0.15 s of waiting a batch, beside which the exchange of 8 MB is nothing.
    sweep = ("sweep", MANIFEST, *CLUSTER, *SHORT, "--set", "arg:--model=lenet", "--set", "arg:--batch_size=8192",
             "--output", "out")
    home.run("up", *CLUSTER)
    first = home.run(*sweep, "--set", "Worker.replicas=1", timeout=80)
    assert re.search(r"^\d+\.\d+ +\d+\.\d+ +1\.00x ", first.stdout, re.M), first.stdout
    text = logs(home.home / "out", "worker-0")
    assert "is a virtual GPU" in text and "source: derived" in text
    assert re.search(r"compute \(modelled, \d+\.\d%\) \+ \d\.\d+ s exchange \(real, \d+\.\d%\)", text)
    assert home.items("tfjobs") == []
    again = home.run(*sweep, "--set", "Worker.replicas=1", timeout=20)
    assert "skipped" in again.stderr and again.stdout == first.stdout
    more = home.run(*sweep, "--set", "Worker.replicas=1,2", "--reference", "tutorial=198.28", timeout=80)
    assert more.stderr.count("skipped") == 1
    rows = list(csv.DictReader((home.home / "out/results.csv").open()))
    assert [row["Worker.replicas"] for row in rows] == ["1", "2"]
    assert float(rows[1]["speedup"]) > 1
    assert "tutorial: 198.3" in (home.home / "out/plot.svg").read_text()
    assert "skipped" in home.run(*sweep, "--set", "Worker.replicas=2", timeout=20).stderr
    assert len(json.loads((home.home / "out/results.json").read_text())["points"]) == 2


def test_interrupt_keeps_what_is_finished_and_cleans_up(home):
    job = home.write("job.yaml", tfjob("job", "echo total images/sec: 5; sleep $SECONDS_TO_SLEEP"))
    home.up()
    running = home.start("sweep", job, "--set", "env:SECONDS_TO_SLEEP=0,600", "--output", "out")
    while "1/2" not in (line := running.stderr.readline()):
        assert line, running.stdout.read()
    home.until(lambda: len(home.items("pods")) == 1, "the second run's pod")
    running.send_signal(signal.SIGINT)
    assert running.wait(20) == 130
    assert home.items("tfjobs") == []
    points = json.loads((home.home / "out/results.json").read_text())["points"]
    assert [point["settings"][0]["value"] for point in points] == ["0"]


def test_a_failed_point_ends_with_runs_exit_code_and_the_others_are_shown(home):
    job = home.write("job.yaml", tfjob("job", "echo total images/sec: 5; exit $CODE"))
    done = home.run("sweep", job, "--set", "env:CODE=3,0", code=1)
    assert re.search(r"^0 +5\.00 +5\.00 ", done.stdout, re.M)
    assert "env:CODE=3: no result" in done.stderr
    assert not home.processes()


@pytest.mark.parametrize("words, message", [
    (["--set", "Wroker.replicas=1"], 'did you mean "Worker"?'),
    (["--set", "Worker.replica=1"], 'did you mean "replicas"?'),
    (["--set", "Worker.replicas="], "empty"),
    (["--metric", "no group"], "0 groups"),
    (["--repeat", "0"], "--repeat"),
    (["--fresh", "--resume"], "--fresh"),
])
def test_wrong_arguments_end_with_2_before_anything_runs(home, words, message):
    job = home.write("job.yaml", tfjob("job", "true"))
    done = home.run("sweep", job, *words, code=2)
    assert message in done.stderr
    assert not home.processes()


def test_the_manifest_is_the_tutorials():
    replicas = yaml.safe_load(MANIFEST.read_text())["spec"]["tfReplicaSpecs"]
    assert replicas["Worker"]["template"]["spec"]["containers"][0]["image"] == IMAGE
    assert replicas["Worker"]["replicas"] == replicas["PS"]["replicas"] == 1
