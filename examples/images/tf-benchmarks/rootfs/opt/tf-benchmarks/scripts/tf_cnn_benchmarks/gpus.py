"""The virtual GPUs of this pod, and telling the emulator how busy they are (the contract of runtime/gpu/contract.h)."""
import dataclasses
import os
import time

DEVICES_FILE = "/run/tfemu/gpu/devices"
USE_FOLDER = "/run/tfemu/gpu-use"
FORMAT = "tfemu-gpus 1"
_MOST_OFTEN_SECONDS = 1.0


@dataclasses.dataclass(frozen=True)
class Gpu:
    index: int
    uuid: str
    name: str
    memory_bytes: int


def read_devices(environment=os.environ):
    """The virtual GPUs that this pod was given; none when it has real ones or none at all."""
    path = environment.get("TFEMU_GPU_DEVICES") or DEVICES_FILE
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return []
    return parse_devices(text, path)


def parse_devices(text, path=DEVICES_FILE):
    lines = text.split("\n")
    if lines[0] != FORMAT:
        raise ValueError(f"{path} does not begin with \"{FORMAT}\"")
    found = []
    for line in lines[1:]:
        record, *words = line.split("\t")
        fields = dict(word.split("=", 1) for word in words if "=" in word)
        if record == "gpu" and fields.get("kind", "virtual") == "virtual":
            found.append(Gpu(int(fields.get("index", len(found))), fields.get("uuid", ""), fields.get("name", ""),
                             int(fields.get("memory_bytes", 0))))
    return found


class Use:
    """Counts the time that GPUs are said to compute, where nvidia-smi and `tfemu top` look for it."""

    def __init__(self, memory_bytes, count=1, folder=USE_FOLDER):
        self._folder = folder if os.path.isdir(folder) else None
        self._memory_bytes, self._count = memory_bytes, count
        self._busy_ns = 0
        self._written = None

    def add(self, seconds):
        """All of them computed for so long."""
        self._busy_ns += int(seconds * 1e9)
        now = time.monotonic()
        if self._folder and (self._written is None or now - self._written >= _MOST_OFTEN_SECONDS):
            self._written = now
            self._write()

    def _write(self):
        path = os.path.join(self._folder, str(os.getpid()))
        hidden = os.path.join(self._folder, f".{os.getpid()}")
        try:
            with open(hidden, "w", encoding="ascii") as file:
                for index in range(self._count):
                    file.write(f"index={index}\tbusy_ns={self._busy_ns}\tused_bytes={self._memory_bytes}\n")
            os.replace(hidden, path)
        except OSError:  # full or gone; the training goes on
            self._folder = None


def modelled_memory(network, batch, optimizer):
    """Weights, gradients, the optimizer's numbers and what forward keeps for backward, in FP32; plus CUDA's own."""
    copies = {"sgd": 2, "momentum": 3, "rmsprop": 4, "adam": 4}[optimizer]
    return 4 * (network.parameters * copies + network.activations * batch) + (400 << 20)
