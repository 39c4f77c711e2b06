"""An installed tfemu finds what belongs to it: programs, GPU layers, the images that come along."""
import shutil
import subprocess

import pytest

from cluster import BUILD
from test_gpus import logs, pod


@pytest.mark.skipif(not shutil.which("meson"), reason="meson is not there to install with")
def test_an_installation_stands_on_its_own(home, tmp_path):
    subprocess.run(["meson", "install", "-C", str(BUILD), "--no-rebuild", "--quiet", "--destdir", str(tmp_path)],
                   check=True, capture_output=True, timeout=60)
    (program,) = tmp_path.rglob("bin/tfemu")

    def run(*words):
        return subprocess.run([str(program), *words], env=home.environment, text=True, check=True, capture_output=True,
                              cwd=home.home, timeout=60).stdout

    assert str(program.parent.parent / "share/tfemu/images") in run("up", "--gpus", "1")
    assert "tf-dist-mnist" in run("image", "ls")
    run("apply", "-f", str(home.write("p.yaml", pod("p", "nvidia-smi -L; sleep 60", "{nvidia.com/gpu: 1}"))))
    assert "NVIDIA A10 (emulated)" in logs(home, "p", "UUID")
