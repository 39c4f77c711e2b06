"""The launcher: TF_CONFIG to flags, the log's form, exit codes and signals."""
import json
import os
import re
import signal
import subprocess
import sys

import pytest

import launcher
from conftest import ROOTFS

CLUSTER = {"ps": ["j-ps-0.default.svc:2222"], "worker": ["j-worker-0.default.svc:2222", "j-worker-1.default.svc:2222"]}


def config(kind, index=0, cluster=None):
    return json.dumps({"cluster": cluster or CLUSTER, "task": {"type": kind, "index": index}, "environment": "cloud"})


def test_flags_of_a_worker():
    assert launcher.cluster_flags(config("worker", 1)) == [
        "--job_name=worker", "--ps_hosts=j-ps-0.default.svc:2222",
        "--worker_hosts=j-worker-0.default.svc:2222,j-worker-1.default.svc:2222", "--task_index=1"]


def test_no_flags_for_one_process_alone():
    assert launcher.cluster_flags("") == []
    assert launcher.cluster_flags(config("worker", 0, {"worker": ["j-worker-0.default.svc:2222"]})) == []


def test_a_role_the_program_does_not_have_is_refused_by_name():
    with pytest.raises(launcher.LauncherError, match="\"master\""):
        launcher.cluster_flags(config("master", 0, CLUSTER | {"master": ["j-master-0.default.svc:2222"]}))


@pytest.mark.parametrize("text", ["{", "[]", "7", '{"task": {"index": "x"}}', '{"cluster": 1}'])
def test_a_broken_tf_config_is_refused_with_its_text(text):
    with pytest.raises(launcher.LauncherError, match="TF_CONFIG"):
        launcher.cluster_flags(text)


def test_flush_stdout_is_dropped_for_the_original_program_only(tmp_path):
    command = ["python", "tf_cnn_benchmarks.py", "--flush_stdout=true", "--model=trivial"]
    assert launcher.full_command(command, "", str(tmp_path)) == command
    (tmp_path / "benchmark_cnn.py").touch()
    assert launcher.full_command(command, "", str(tmp_path)) == ["python", "tf_cnn_benchmarks.py", "--model=trivial"]


def run(*words, tf_config=""):
    environment = os.environ | {"TF_CONFIG": tf_config, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, ROOTFS / "launcher.py", *words], env=environment, text=True,
                          capture_output=True, timeout=30)


def test_log_lines_and_merged_stderr():
    done = run("sh", "-c", "echo out; echo err >&2")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    form = re.compile(r"INFO\|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\|.*/launcher\.py\|\d+\| (.*)")
    assert [form.fullmatch(line)[1] for line in lines[1:]] == ["out", "err"]
    assert "Running sh" in lines[0]


def test_flags_come_after_the_arguments():
    done = run("sh", "-c", 'echo "$0 $@"', "first", tf_config=config("ps"))
    assert "| first --job_name=ps --ps_hosts=" in done.stdout


@pytest.mark.parametrize("command, code", [("exit 7", 7), ("kill -9 $$", 137), ("true", 0)])
def test_exit_code_is_the_programs(command, code):
    assert run("sh", "-c", command).returncode == code


def test_no_command_and_no_program():
    assert run().returncode == 1
    assert run("no-such-program").returncode == 127


def test_sigterm_reaches_the_program():
    running = subprocess.Popen([sys.executable, ROOTFS / "launcher.py", "sh", "-c", "echo up; exec sleep 600"],
                               stdout=subprocess.PIPE, text=True, env=os.environ | {"TF_CONFIG": ""})
    while "| up" not in running.stdout.readline():
        assert running.poll() is None
    running.send_signal(signal.SIGTERM)
    assert running.wait(10) == 143
