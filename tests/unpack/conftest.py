"""A store of layers in a folder of its own, with a neighbour that must stay as it is."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
PROGRAM = os.environ.get("TFEMU_UNPACK", str(ROOT / "build/runtime/unpack/tfemu-unpack"))

# A sanitized program looks for leaks through /proc, which is not in the folder that this one has for its root by then.
ENVIRONMENT = os.environ | {"LSAN_OPTIONS": "detect_leaks=0"}


def pytest_collection_modifyitems(items):
    if os.geteuid() != 0:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="owners and whiteouts need root"))


class Store:
    def __init__(self, folder):
        self.folder = folder
        self.layers = folder / "layers"
        self.layers.mkdir()
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "secret").write_text("as it was")

    def write(self, data, name="image.tar"):
        (self.folder / name).write_bytes(data)
        return self.folder / name

    def run(self, source, **options):
        """Everything that tfemu-unpack says."""
        argument = {"source": str(source), "layers": str(self.layers)} | options
        done = subprocess.run([PROGRAM, json.dumps(argument)], capture_output=True, text=True, timeout=60,
                              env=ENVIRONMENT)
        said = [json.loads(line) for line in done.stdout.splitlines()]
        assert said and done.stderr == "", done
        return said

    def unpack(self, source, **options):
        last = self.run(source, **options)[-1]
        assert "record" in last, last
        record = json.loads(last["record"])
        record["paths"] = [self.layers / name / "fs" for name in record["folders"]]
        return record

    def refuse(self, source, **options):
        """The error of an archive that must leave nothing behind."""
        last = self.run(source, **options)[-1]
        assert "error" in last, last
        assert self.names() == []
        self.untouched()
        error = last["error"]
        assert error["message"].startswith(str(source) + ": ")
        return error["message"] + " | " + error["hint"]

    def names(self):
        return sorted(entry.name for entry in self.layers.iterdir())

    def untouched(self):
        assert sorted(os.listdir(self.outside)) == ["secret"]
        assert (self.outside / "secret").read_text() == "as it was"
        assert (self.outside / "secret").stat().st_mode & 0o7777 == 0o644
        assert (self.outside / "secret").stat().st_nlink == 1


@pytest.fixture
def store(tmp_path):
    os.umask(0o022)
    return Store(tmp_path)
