"""Reads MNIST's file format (IDX, gzip) from the first folder that has the four files."""
import dataclasses
import gzip
import os
import struct

import numpy as np

from startup import UserError

PACKAGED_FOLDER = "/usr/share/datasets/fashion-mnist"  # Debian's dataset-fashion-mnist
FILES = {
    "train_x": "train-images-idx3-ubyte.gz",
    "train_y": "train-labels-idx1-ubyte.gz",
    "test_x": "t10k-images-idx3-ubyte.gz",
    "test_y": "t10k-labels-idx1-ubyte.gz",
}


@dataclasses.dataclass(frozen=True)
class Images:
    folder: str
    train_x: np.ndarray  # float32 in [0, 1], one row of 784 an image
    train_y: np.ndarray  # int64 in [0, 9]
    test_x: np.ndarray
    test_y: np.ndarray


def _missing(folder):
    return [name for name in FILES.values() if not os.path.isfile(os.path.join(folder, name))]


def _choose_folder(data_dir):
    if data_dir:
        candidates = [data_dir]
    else:
        candidates = [os.path.join(os.environ.get("TEST_TMPDIR", "/tmp"), "data"), PACKAGED_FOLDER]
    for folder in candidates:
        if not _missing(folder):
            return folder
    raise UserError(
        f"no dataset: {', '.join(_missing(candidates[-1]))} not found in {' or '.join(candidates)}\n"
        "hint: apt-get install dataset-fashion-mnist on the host, or put MNIST's four .gz files into one of these")


def _read(path, limit):
    try:
        with gzip.open(path) as file:
            magic, count = struct.unpack(">II", file.read(8))
            rank = magic & 0xFF
            shape = struct.unpack(f">{rank - 1}I", file.read(4 * (rank - 1)))
            count = min(count, limit)
            size = int(np.prod(shape)) if shape else 1
            content = np.frombuffer(file.read(count * size), np.uint8)
        return content.reshape(count, size)
    except (OSError, EOFError, ValueError, struct.error) as error:
        raise UserError(f"{path} is no gzip'ed IDX file: {error}") from error


def load(data_dir, train_images):
    folder = _choose_folder(data_dir)

    def images(name, limit):
        return _read(os.path.join(folder, FILES[name]), limit).astype(np.float32) / 255

    def labels(name, limit):
        return _read(os.path.join(folder, FILES[name]), limit).astype(np.int64).reshape(-1)

    everything = 1 << 30
    return Images(folder, images("train_x", train_images), labels("train_y", train_images),
                  images("test_x", everything), labels("test_y", everything))
