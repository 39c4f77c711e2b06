"""Makes the benchmark image's modules importable, as they are in the image."""
import pathlib
import sys

ROOTFS = pathlib.Path(__file__).resolve().parents[3] / "examples/images/tf-benchmarks/rootfs/opt"
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOTFS), str(ROOTFS / "tf-benchmarks/scripts/tf_cnn_benchmarks")]
