"""Kills the daemon at random moments and keeps the books: what was lost, started twice, or missing in a log."""
import collections
import dataclasses
import os
import pathlib
import random
import re
import select
import signal
import threading
import time

from cluster import tfjob

# Numbered lines until told to stop; the start goes to a file that survives everything, with the host's word for "now".
WORKER = """echo start >> /shared/starts/$HOSTNAME
i=0; while [ ! -e /shared/stop ]; do echo line $i; i=$((i+1)); sleep 0.05; done; echo total $i"""
QUICK = "echo start >> /shared/starts/$HOSTNAME; echo line 0; echo total 1"


@dataclasses.dataclass
class Report:
    seed: int
    kills: int = 0
    pods: int = 0
    lost: list = dataclasses.field(default_factory=list)
    doubled: list = dataclasses.field(default_factory=list)
    bad_logs: list = dataclasses.field(default_factory=list)
    lines: int = 0
    adoption_ms: list = dataclasses.field(default_factory=list)

    def line(self):
        times = sorted(self.adoption_ms) or [0]
        return (f"seed {self.seed}: {self.kills} kills, {self.pods} pods, {len(self.lost)} lost, "
                f"{len(self.doubled)} started twice, {len(self.bad_logs)} logs with a gap or a double line "
                f"({self.lines} lines); `up` took {times[len(times) // 2]:.0f} ms in the median, {times[-1]:.0f} at most")

    def ok(self):
        return not (self.lost or self.doubled or self.bad_logs)


def daemon_pid(cluster):
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/tfemud") and str(cluster.home).encode() in words:
            return int(entry.name)
    return None


def daemon_program(cluster):
    return os.readlink(f"/proc/{daemon_pid(cluster)}/exe")


def kill_daemon(cluster):
    """SIGKILL, and nothing else; returns when the process is gone. False when there was none."""
    pid = daemon_pid(cluster)
    if pid is None:
        return False
    handle = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        select.select([handle], [], [], 10)
    finally:
        os.close(handle)
    return True


class Chaos:
    def __init__(self, cluster, kills, seed=None, flags=()):
        self.cluster, self.flags = cluster, flags
        self.report = Report(seed if seed is not None else random.SystemRandom().randrange(1 << 31))
        self.random = random.Random(self.report.seed)
        self.planned = kills
        self.shared = cluster.home / "shared"
        (self.shared / "starts").mkdir(parents=True)
        self.shared.chmod(0o777)
        self.applied = threading.Event()

    def job(self, name, replicas, script=WORKER):
        return tfjob(name, script, "volumeMounts: [{name: shared, mountPath: /shared}]", replicas).replace(
            "          containers:\n",
            f"          volumes: [{{name: shared, hostPath: {{path: {self.shared}}}}}]\n          containers:\n")

    def apply_until_done(self, name, text):
        """As a person would: the daemon went away, so once more."""
        path = self.cluster.write(name, text)
        for _ in range(1000):
            done = self.cluster.run("apply", "-f", path, code=None, timeout=60)
            if done.returncode == 0:
                self.applied.set()
                return
            time.sleep(0.02)

    def kill_and_start(self, longest):
        time.sleep(self.random.uniform(0, longest))
        if not kill_daemon(self.cluster):
            return
        self.report.kills += 1
        time.sleep(self.random.choice([0, 0, self.random.uniform(0, 0.3)]))
        begun = time.monotonic()
        self.cluster.up(*self.flags)
        self.report.adoption_ms.append((time.monotonic() - begun) * 1000)

    def run(self, manifest, longest=0.6):
        applying = threading.Thread(target=self.apply_until_done, args=("chaos.yaml", manifest))
        applying.start()
        while self.report.kills < self.planned:
            self.kill_and_start(longest)
        applying.join()
        assert self.applied.is_set(), "the manifest was never applied"

    def finish(self, jobs, timeout=60):
        (self.shared / "stop").touch()
        for job in jobs:
            self.cluster.run("wait", "--for=condition=Succeeded", f"tfjob/{job}", f"--timeout={timeout}s",
                             timeout=timeout + 5)
        # A job is over with its first worker; the others are counted, too.
        self.cluster.until(lambda: all(pod["status"].get("phase") in ("Succeeded", "Failed")
                                       for pod in self.cluster.items("pods")), "end of every pod", timeout)

    def audit(self, jobs):
        """`jobs`: name -> replicas. Fills the report from the volume, the logs and the pods' statuses."""
        statuses = {pod["metadata"]["name"]: pod["status"] for pod in self.cluster.items("pods")}
        for job, replicas in jobs.items():
            for name in (f"{job}-worker-{n}" for n in range(replicas)):
                self.report.pods += 1
                starts = self.shared / "starts" / name
                count = len(starts.read_text().splitlines()) if starts.exists() else 0
                containers = statuses.get(name, {}).get("containerStatuses", [])
                ended = [c for c in containers if c["state"].get("terminated", {}).get("exitCode") == 0]
                if count == 0 or not ended:
                    self.report.lost.append(name)
                if count > 1 or any(c["restartCount"] for c in containers):
                    self.report.doubled.append(name)
                self.audit_log(name)
        return self.report

    def audit_log(self, pod):
        lines = self.cluster.run("logs", pod, code=None).stdout.splitlines()
        self.report.lines += len(lines)
        total = re.fullmatch(r"total (\d+)", lines[-1]) if lines else None
        if total is None or lines[:-1] != [f"line {n}" for n in range(int(total[1]))]:
            counts = collections.Counter(lines)
            self.report.bad_logs.append((pod, len(lines), [line for line, n in counts.items() if n > 1][:5]))


def train(cluster, kills, seed=None, others=5):
    """A training of five replicas, and more jobs that are applied while the daemon is killed."""
    chaos = Chaos(cluster, kills, seed)
    print(f"seed {chaos.report.seed}", flush=True)
    jobs = {"train": 5} | {f"job-{n}": 1 for n in range(others)}
    manifest = "---\n".join([chaos.job("train", 5), *(chaos.job(f"job-{n}", 1, QUICK) for n in range(others))])
    chaos.run(manifest)
    chaos.finish(jobs)
    return chaos.audit(jobs)


def apply_many(cluster, kills, seed=None, count=50):
    """Kills while so many small jobs are applied."""
    chaos = Chaos(cluster, kills, seed, ("--cpus", "64"))
    print(f"seed {chaos.report.seed}", flush=True)
    jobs = {f"job-{n}": 1 for n in range(count)}
    chaos.run("---\n".join(chaos.job(name, 1, QUICK) for name in jobs), longest=0.15)
    chaos.finish(jobs, timeout=120)
    return chaos.audit(jobs)
