"""The calculation that the demo prints, on made-up logs."""
import json
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "tools/lib/benchmark_shares.py"


def log(folder, workers, index, exchange):
    summary = {"compute": "modelled", "job": "worker", "task_index": index, "workers": workers, "batch_size": 100,
               "total_images_per_sec": workers * 100 / (0.6 + exchange), "exchanged_bytes": 200_000_000,
               "compute_s": 0.6, "pull_s": exchange / 2, "push_s": exchange / 2, "wait_s": 0.0}
    path = folder / f"logs/run-{workers}/worker-{index}/tensorflow.0.log"
    path.parent.mkdir(parents=True)
    path.write_text(f"INFO|x|1| benchmark summary: {json.dumps(summary)}\n")


def run(folder):
    return subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, timeout=30)


def test_foreseen_and_measured(tmp_path):
    log(tmp_path, 1, 0, 0.2)
    log(tmp_path, 2, 0, 0.3)
    log(tmp_path, 2, 1, 0.3)
    text = run(tmp_path).stdout
    assert "0.800 s   0.600 s =  75.0%     0.200 s = 25.0%" in text
    assert "2 workers: 200.0 to 250.0 images/sec; measured 222.2\n" in text
    assert "each further worker adds 0.100 s" in text and "below 1000, and from 7 workers on" in text
    assert "200 MB needs the PS 0.160 s" in text


@pytest.mark.parametrize("workers", [1, 3])
def test_one_point_is_enough(tmp_path, workers):
    for index in range(workers):
        log(tmp_path, workers, index, 0.3)
    assert "as if one exchange came after the other" in run(tmp_path).stdout


def test_nothing_to_explain(tmp_path):
    (tmp_path / "logs").mkdir()
    assert run(tmp_path).returncode == 1
