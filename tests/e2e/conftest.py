"""Fixtures: every test has a cluster of its own, taken down and looked after when the test ends."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cluster as cluster_lib  # noqa: E402


def pytest_collection_modifyitems(items):
    reason = None
    if os.geteuid() != 0:
        reason = "isolation level root needs root"
    elif not cluster_lib.TFEMU.exists():
        reason = f"{cluster_lib.TFEMU} is not built"
    if reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def home():
    """A home without a running cluster."""
    with cluster_lib.Cluster() as made:
        yield made


@pytest.fixture
def cluster(home):
    home.up("--gpus", "2")
    yield home


@pytest.fixture(scope="session")
def prepared():
    """TensorFlow's environments exist, so that no later wait has to allow for their download."""
    with cluster_lib.Cluster("prepare") as made:
        made.up()
        for image in ("registry.cn-beijing.aliyuncs.com/eci/tf-dist-mnist:gpu", "tensorflow/tensorflow:1.7.0"):
            made.run("image", "prepare", image, timeout=900)
