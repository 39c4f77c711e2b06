"""A quick import of TensorFlow, and a quick end: its teardown takes longer than a short benchmark."""
import gc
import importlib.metadata
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's own threads would only compete with TensorFlow's


def tensorflow_version():
    """Without importing it."""
    for name in ("tensorflow", "tensorflow-cpu"):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return "0.0"


def import_tensorflow():
    """Imports TensorFlow without the garbage collector, which would walk its objects over and over."""
    gc.disable()
    try:
        import tensorflow
    finally:
        gc.enable()
    tensorflow.compat.v1.logging.set_verbosity(tensorflow.compat.v1.logging.ERROR)
    tensorflow.compat.v1.disable_v2_behavior()
    return tensorflow


def leave(code):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
