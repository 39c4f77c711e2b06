"""Holds variables and serves until it is stopped, as TensorFlow's parameter servers do."""
import importlib.util
import sys
import types

import startup
from report import say


def _server_class():
    """TensorFlow's Server, imported without the rest of the package: 0.3 s and 230 MB instead of 2 s and 400 MB.

    That path is TensorFlow's private one, so any failure falls back on the public import."""
    spec = importlib.util.find_spec("tensorflow")
    package = types.ModuleType("tensorflow")
    package.__path__ = list(spec.submodule_search_locations)
    package.__spec__ = spec
    sys.modules["tensorflow"] = package
    try:
        from tensorflow.python.training import server_lib
        return server_lib.Server
    except ImportError:
        for name in [name for name in sys.modules if name.split(".")[0] == "tensorflow"]:
            del sys.modules[name]
        return startup.import_tensorflow().compat.v1.train.Server


def serve(settings):
    cluster = {"ps": list(settings.ps_hosts), "worker": list(settings.worker_hosts)}
    index = settings.flags.task_index
    server = _server_class()(cluster, job_name="ps", task_index=index, protocol=settings.flags.server_protocol)
    say(f"Running parameter server {index}")
    server.join()
