"""A cluster of its own for a test: a home folder that nobody else uses, and the commands on it."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TFEMU_BUILD", ROOT / "build"))
TFEMU = BUILD / "tools/cli/tfemu"
TUTORIAL = ROOT / "examples/tutorial"

# An image that is the host and nothing else: pods of it start in milliseconds.
HOST_IMAGE = 'references: ["busybox:*", "e2e/host:*"]\nroot: host\n'


def default_cache():
    """Where a person's own clusters keep python environments: tests use it too, or each would install TensorFlow."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return pathlib.Path(os.environ.get("TFEMU_HOME") or f"{state}/tfemu") / "cache"


class Cluster:
    def __init__(self, name="e2e"):
        self.name = name
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="tfemu-e2e-"))
        cache = default_cache()
        cache.mkdir(parents=True, exist_ok=True)
        (self.home / "cache").symlink_to(cache)
        self.write("images/host/image.yaml", HOST_IMAGE)
        (self.home / "run").mkdir(mode=0o700)
        self.environment = os.environ | {
            "TFEMU_HOME": str(self.home), "TFEMU_CLUSTER": name, "XDG_RUNTIME_DIR": str(self.home / "run"),
            "NO_COLOR": "1", "TERM": "dumb"}

    def write(self, name, text):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def start(self, *words, **options):
        """A tfemu that goes on running; its output is text."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        return subprocess.Popen([str(TFEMU), *map(str, words)], env=self.environment, text=True, errors="replace",
                                cwd=self.home, **options)

    def run(self, *words, code=0, timeout=60, stdin=None):
        """Runs tfemu to its end and checks the exit code, unless `code` is None."""
        done = subprocess.run([str(TFEMU), *map(str, words)], env=self.environment, text=True, errors="replace",
                              cwd=self.home, capture_output=True, timeout=timeout,
                              input=stdin if stdin is not None else "")
        if code is not None:
            shown = f"tfemu {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
            assert done.returncode == code, shown
        return done

    def up(self, *flags):
        return self.run("up", *flags, timeout=60)

    def apply(self, text, code=0, *flags):
        """Applies a manifest given as text."""
        path = self.write("manifest.yaml", text)
        return self.run("apply", "-f", path, *flags, code=code)

    def get(self, *words):
        return json.loads(self.run("get", *words, "-o", "json").stdout)

    def items(self, *words):
        found = self.get(*words)
        return found.get("items", [found])

    def jsonpath(self, path, *words):
        return self.run("get", *words, "-o", f"jsonpath={path}").stdout

    def until(self, condition, what, timeout=30):
        """Asks again and again; there is nothing to wait on across these verbs."""
        deadline = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            assert time.monotonic() < deadline, f"no {what} within {timeout} s\n" + self.picture()
            time.sleep(0.05)

    def until_phase(self, pod, phase, timeout=30):
        self.until(lambda: self.run("get", "pod", pod, "-o", "jsonpath={.status.phase}", code=None).stdout == phase,
                   f"{phase} {pod}", timeout)

    def picture(self):
        """What a person would look at first, for messages of failed tests."""
        text = ""
        for words in (("get", "tfjobs,pods,pvc", "-A", "-o", "wide"), ("events", "-A")):
            done = self.run(*words, code=None)
            text += done.stdout + done.stderr
        return text

    def processes(self):
        """Processes of the host that belong to this home: by environment or by open files' names in their command."""
        mine = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                text = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(self.home).encode() in text:
                mine.append(int(entry.name))
        return mine

    def down(self):
        return self.run("down", "--purge", timeout=60, code=None)

    def close(self):
        if TFEMU.exists():
            self.down()
        for process in self.processes():  # only after a failure: nothing of a broken test may stay
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        (self.home / "cache").unlink(missing_ok=True)
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# PID 1 that does not ask for SIGTERM does not get it, so a sleeping pod lasts for its whole grace period: one second here.


def pod(name, command, extra="", spec=""):
    """A pod of the host image that runs a shell command. `extra` goes to the container, `spec` to the pod."""
    return f"""apiVersion: v1
kind: Pod
metadata:
  name: {name}
spec:
  restartPolicy: Never
{_indent(spec, 2)}  containers:
  - name: main
    image: busybox:1
    command: [sh, -c, {json.dumps(command)}]
{_indent(extra, 4)}  terminationGracePeriodSeconds: 1
"""


def tfjob(name, worker_command, worker_extra="", replicas=1, image="busybox:1"):
    return f"""apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: {name}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: {replicas}
      template:
        spec:
          containers:
          - name: tensorflow
            image: {image}
            command: [sh, -c, {json.dumps(worker_command)}]
{_indent(worker_extra, 12)}          terminationGracePeriodSeconds: 1
"""


def _indent(text, columns):
    return "".join(" " * columns + line + "\n" for line in text.splitlines())
