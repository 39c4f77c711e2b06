"""Runs the command it is given with the cluster flags that TF_CONFIG stands for, and logs what it prints.

The flags and the form of the log are those of kubeflow's launcher. Two things differ on purpose: this one ends with
its program's exit code (kubeflow's sleeps for ever after success, so its pods never succeed, and ends with 1 after any
failure), and it passes SIGTERM and SIGINT on.
"""
import datetime
import inspect
import json
import os
import signal
import subprocess
import sys

KNOWN_JOBS = ("ps", "worker")


class LauncherError(Exception):
    """What the person who wrote the job can put right."""


def cluster_flags(text):
    """The flags for a TF_CONFIG; none when there is none, or when it describes one process alone."""
    if not text:
        return []
    try:
        config = json.loads(text)
        cluster, task = config.get("cluster") or {}, config.get("task") or {}
        hosts = {job: list(addresses) for job, addresses in cluster.items()}
        job, index = str(task.get("type", "")).lower(), int(task.get("index", 0))
    except (ValueError, TypeError, AttributeError) as error:
        raise LauncherError(f"TF_CONFIG is not what a TFJob sets ({error!r}): {text}") from error
    if not hosts.get("ps") and len(hosts.get("worker", [])) <= 1 and job in ("", "worker"):
        return []
    if job not in KNOWN_JOBS:
        raise LauncherError(f"tf_cnn_benchmarks has the jobs {' and '.join(KNOWN_JOBS)} only, and TF_CONFIG says "
                            f"\"{job}\": name the replicas PS and Worker")
    return [f"--job_name={job}", f"--ps_hosts={','.join(hosts.get('ps', []))}",
            f"--worker_hosts={','.join(hosts.get('worker', []))}", f"--task_index={index}"]


def is_original(command, folder):
    """Whether the command runs TensorFlow's own tf_cnn_benchmarks.py: its modules lie beside it."""
    scripts = [word for word in command if word.endswith(".py")]
    return bool(scripts) and os.path.isfile(
        os.path.join(folder, os.path.dirname(scripts[0]), "benchmark_cnn.py"))


def full_command(arguments, tf_config, folder):
    command = list(arguments)
    if is_original(command, folder):  # it lost this flag in 2018, and the manifests still have it
        command = [word for word in command if not word.lstrip("-").startswith("flush_stdout")]
    return command + cluster_flags(tf_config)


def log(text, stream=sys.stdout):
    when = datetime.datetime.now().strftime("%Y-%m-%dT%H:%M:%S")
    line = inspect.currentframe().f_back.f_lineno
    stream.write(f"INFO|{when}|{__file__}|{line}| {text}\n")
    stream.flush()


def run(command):
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _: child.send_signal(received))
    for line in child.stdout:
        log(line.rstrip("\n"))
    code = child.wait()
    return 128 - code if code < 0 else code


def main(arguments):
    try:
        if not arguments:
            raise LauncherError("no command: the container's args are to be python tf_cnn_benchmarks.py FLAGS")
        command = full_command(arguments, os.environ.get("TF_CONFIG", ""), os.getcwd())
        log(f"Running {' '.join(command)}")
        return run(command)
    except LauncherError as error:
        log(f"error: {error}")
        return 1
    except FileNotFoundError as error:
        log(f"error: {error}")
        return 127


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
