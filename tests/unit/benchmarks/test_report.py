"""The printed lines, compared with those of tf_cnn_benchmarks, and what a modelled run says."""
import json
import re
import types

import pytest

import compute_times
import explain
import flags
import gpus
import models
import report
import settings

STEP = re.compile(r"^(\d+)\timages/sec: ([0-9.]+) \+/- ([0-9.]+) \(jitter = ([0-9.]+)\)\t([0-9.]+|nan)$")


def of(*words):
    return settings.resolve(flags.parse(words))


def work(name):
    return models.describe(name).multiply_adds


def test_header_of_a_lone_process():
    run = of("--model=trivial", "--device=cpu", "--data_format=NHWC", "--batch_size=2", "--num_batches=20")
    assert report.header(run, "2.15.1") == [
        "TensorFlow:  2.15", "Model:       trivial", "Dataset:     imagenet (synthetic)", "Mode:        training",
        "SingleSess:  False", "Batch size:  2 global", "             2 per device", "Num batches: 20",
        "Num epochs:  0.00", "Devices:     ['/cpu:0']", "NUMA bind:   False", "Data format: NHWC",
        "Optimizer:   sgd", "Variables:   parameter_server", "=========="]


def test_header_of_a_worker():
    lines = report.header(of("--job_name=worker", "--ps_hosts=p:1", "--worker_hosts=a:1,b:1", "--task_index=1",
                             "--batch_size=128", "--model=resnet50"), "2.15.1")
    assert "Batch size:  256 global" in lines and "Sync:        True" in lines
    assert "Devices:     ['/job:worker/replica:0/task1/gpu:0']" in lines


def test_step_line():
    assert report.step_line(1, 128, [0.64], 7.6214) == "1\timages/sec: 200.0 +/- 0.0 (jitter = 0.0)\t7.621"
    line = STEP.match(report.step_line(10, 10, [0.1, 0.2, 0.1, 0.2], float("nan")))
    assert line.groups() == ("10", "66.7", "12.5", "37.1", "nan")
    assert [n for n in range(1, 31) if report.is_displayed(n, 10)] == [1, 10, 20, 30]


def test_total():
    assert report.total_lines(198.284)[1] == "total images/sec: 198.28"
    assert report.total_lines(1)[0] == "-" * 64


def test_published_speeds_and_derived_ones_say_which_they_are():
    a10 = compute_times.rate("A10", "resnet50", work)
    assert a10.images_per_second == 198.28 and "tutorial" in a10.source and "derived" not in a10.source
    assert a10.seconds(128) == pytest.approx(0.6456, abs=1e-4)
    vgg = compute_times.rate("A10", "vgg16", work)
    assert vgg.images_per_second == pytest.approx(198.28 * 154 / 219) and "P100" in vgg.source
    deep = compute_times.rate("A10", "resnet101", work)
    assert deep.images_per_second == pytest.approx(101, abs=1) and "multiply-adds" in deep.source
    assert compute_times.rate("T4", "resnet50", work).source.startswith("derived")
    assert compute_times.rate("V100", "resnet50", work, half=True).images_per_second > 1000
    for gpu in compute_times.GPUS:
        for model in models.MODELS:
            found = compute_times.rate(gpu, model, work)
            assert found.images_per_second > 0 and found.source


@pytest.mark.parametrize("name, gpu", [("NVIDIA A10 (emulated)", "A10"), ("Tesla V100-SXM2-16GB", "V100"),
                                       ("NVIDIA A100-SXM4-80GB", "A100"), ("A10", "A10"), ("H100", None), ("", None)])
def test_product_names(name, gpu):
    assert compute_times.find_gpu(name) == gpu


def test_devices_file():
    text = ("tfemu-gpus 1\ngpu\tindex=0\tuuid=GPU-00000000-a\tname=NVIDIA A10\tmemory_bytes=24\tkind=virtual\n"
            "gpu\tindex=1\tuuid=GPU-b\tname=A\tmemory_bytes=1\tkind=real\nprocess\tindex=0\tpid=1\nnew\tx=1\n")
    assert [(gpu.index, gpu.name, gpu.memory_bytes) for gpu in gpus.parse_devices(text)] == [(0, "NVIDIA A10", 24)]
    assert gpus.read_devices({"TFEMU_GPU_DEVICES": "/nowhere"}) == []
    with pytest.raises(ValueError):
        gpus.parse_devices("tfemu-gpus 2\n")


def test_use_is_reported(tmp_path):
    use = gpus.Use(7, count=2, folder=str(tmp_path))
    use.add(0.5)
    (file,) = tmp_path.iterdir()
    assert file.read_text() == "".join(f"index={i}\tbusy_ns=500000000\tused_bytes=7\n" for i in (0, 1))
    gpus.Use(7, folder=str(tmp_path / "none")).add(1)


def test_memory_of_the_tutorials_batch_fits_an_a10():
    assert 8 < gpus.modelled_memory(models.describe("resnet50"), 128, "sgd") / 2**30 < 22


def test_first_lines_of_a_modelled_run():
    run = of("--batch_size=128", "--model=resnet50")
    virtual = [gpus.Gpu(0, "GPU-00000000-a", "NVIDIA A10", 24 << 30)]
    rate = compute_times.choose(run, virtual, work)
    first, source = explain.announcement(run, rate, virtual)
    assert "NVIDIA A10 is a virtual GPU" in first and "a wait of 0.6456 s" in first and "tutorial" in source
    assert compute_times.choose(run, [], work) is None and explain.announcement(run, None, []) == []
    assert compute_times.choose(of("--device=cpu", "--data_format=NHWC"), virtual, work) is None
    with pytest.raises(ValueError, match="num_gpus=2, but this pod has 1 GPUs"):
        compute_times.choose(of("--num_gpus=2"), virtual, work)
    with pytest.raises(ValueError, match="no published speed for the virtual GPU \"X1\"; known: A10"):
        compute_times.choose(run, [gpus.Gpu(0, "", "X1", 1)], work)


def test_last_lines_of_a_modelled_run():
    run = of("--job_name=worker", "--ps_hosts=p:1", "--worker_hosts=a:1", "--batch_size=128", "--model=resnet50")
    step = types.SimpleNamespace(seconds={"pull": [0.05], "compute": [0.6], "push": [0.05], "wait": [0.0]},
                                 network=models.describe("resnet50"))
    lines = explain.ending(run, compute_times.rate("A10", "resnet50", work), step,
                           types.SimpleNamespace(steps=[0.7], rate=182.86))
    assert "0.7000 s = 0.6000 s compute (modelled, 85.7%) + 0.1000 s exchange (real, 14.3%)" in lines[0]
    assert "1: 182.9, 2: 320.0" in lines[3]
    values = json.loads(lines[-1].removeprefix("benchmark summary: "))
    assert values["compute"] == "modelled" and values["exchanged_bytes"] == 2 * 4 * 25559081
