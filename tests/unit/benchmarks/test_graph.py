"""The networks as TensorFlow graphs, where an environment with TensorFlow has been made: shapes as described, a step runs."""
import os
import pathlib
import subprocess

import pytest

from conftest import ROOTFS

PROGRAM = ROOTFS / "tf-benchmarks/scripts/tf_cnn_benchmarks"
BUILD = """
import sys
sys.path.insert(0, {program!r})
import startup
tf = startup.import_tensorflow()
import models, tf_net
v1 = tf.compat.v1
for name in {names!r}:
    for form in ("NHWC", "NCHW"):
        with tf.Graph().as_default():
            made = {{}}
            def make(one):
                made[one.name] = v1.get_variable(one.name, one.shape, tf.float32)
                return made[one.name]
            size = models.MODELS[name].image_size
            shape = [2, size, size, 3] if form == "NHWC" else [2, 3, size, size]
            net = tf_net.TfNet(make, form)
            logits = models.MODELS[name].build(net, v1.placeholder(tf.float32, shape))
            assert logits.value.shape.as_list() == [2, 1001], (name, form, logits.value.shape)
            described = models.describe(name)
            assert [one.name for one in described.variables] == list(made), name
            assert described.multiply_adds == net.multiply_adds and described.activations == net.activations
print("built", flush=True)
startup.leave(0)
"""


def site_packages():
    """Of the newest environment with TensorFlow in this user's cache, or None."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    cache = pathlib.Path(os.environ.get("TFEMU_HOME") or f"{state}/tfemu") / "cache/python"
    found = sorted(cache.glob("*/lib/python3*/site-packages/tensorflow"), key=lambda path: path.stat().st_mtime)
    return found[-1].parent if found else None


@pytest.mark.skipif(site_packages() is None, reason="no environment with TensorFlow; tfemu image prepare makes it")
def test_graphs_are_what_the_description_says():
    names = ["trivial", "lenet", "alexnet", "vgg16", "inception3", "resnet50"]
    done = subprocess.run(["/usr/bin/python3", "-c", BUILD.format(program=str(PROGRAM), names=names)],
                          env=os.environ | {"PYTHONPATH": str(site_packages()), "PYTHONDONTWRITEBYTECODE": "1"},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "built" in done.stdout, done.stderr
