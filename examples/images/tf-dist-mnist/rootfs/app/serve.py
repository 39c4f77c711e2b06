"""Serves predictions of the newest checkpoint over HTTP, in TensorFlow Serving's form.

    GET  /v1/models/mnist           {"model_version_status": [{"version": "502", "state": "AVAILABLE"}]}
    POST /v1/models/mnist:predict   {"instances": [[784 floats], ...]} -> {"predictions": [9, ...]}
"""
import argparse
import http.server
import json
import os
import sys

import numpy as np

import startup
from startup import say


class Handler(http.server.BaseHTTPRequestHandler):
    classifier = None
    protocol_version = "HTTP/1.1"

    def answer(self, code, document):
        body = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path != "/v1/models/mnist":
            return self.answer(404, {"error": f"no model at {self.path}; try /v1/models/mnist"})
        version = {"version": str(self.classifier.step), "state": "AVAILABLE"}
        return self.answer(200, {"model_version_status": [version]})

    def do_POST(self):
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            images = np.asarray(body["instances"], np.float32)
            if images.ndim != 2 or images.shape[1] != 784:
                raise ValueError(f"instances have the shape {list(images.shape)}, not [n, 784]")
        except (KeyError, TypeError, ValueError) as error:
            return self.answer(400, {"error": str(error)})
        return self.answer(200, {"predictions": self.classifier.classify(images).tolist()})

    def log_message(self, format, *args):
        say(f"{self.address_string()} {format % args}")


def main(argv):
    folder = os.environ.get("TEST_TMPDIR", "/tmp")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log-dir", default=os.path.join(folder, "tensorflow", "logs"), help="default: %(default)s")
    parser.add_argument("--port", type=int, default=8501, help="default: %(default)s")
    options = parser.parse_args(argv)
    import inference
    Handler.classifier = inference.Classifier(options.log_dir)
    with http.server.ThreadingHTTPServer(("0.0.0.0", options.port), Handler) as server:
        say(f"serves step {Handler.classifier.step} on port {options.port}")
        server.serve_forever()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except startup.UserError as error:
        print(f"error: {error}", file=sys.stderr)
        startup.leave(1)
