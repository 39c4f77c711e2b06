"""What makes a short job short: a quick import, a quick exit, and lines that say when they were printed."""
import gc
import os
import sys
import time

START = time.monotonic()

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's own threads would only compete with TensorFlow's


class UserError(Exception):
    """Something the person who started the job can put right; shown without a traceback."""


def say(text):
    print(f"[+{time.monotonic() - START:5.2f}s] {text}", flush=True)


def import_tensorflow():
    """Imports TensorFlow without the garbage collector, which would walk its objects over and over (-0.2 s)."""
    gc.disable()
    try:
        import tensorflow
    finally:
        gc.enable()
    logging = tensorflow.compat.v1.logging
    logging.set_verbosity(logging.ERROR)  # disable_v2_behavior warns about itself
    tensorflow.compat.v1.disable_v2_behavior()
    logging.set_verbosity(logging.INFO)  # tells of lost parameter servers and restored checkpoints
    say(f"TensorFlow {tensorflow.__version__}")
    return tensorflow


def leave(code):
    """Ends the process at once: TensorFlow's teardown at interpreter exit takes longer than the training."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
