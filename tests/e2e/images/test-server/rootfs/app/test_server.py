"""A replica that answers questions on port 2222 and ends when it is told to: /tfconfig, /runconfig, /exit?exitCode=N.

With `smoke` as argument it is the replica of a smoke test instead: the one named by the next word asks every task of the
cluster for its TF_CONFIG, wants the same cluster from all, and ends with 0; the others serve for ever.
"""
import http.server
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

PORT = 2222


def tf_config():
    return json.loads(os.environ.get("TF_CONFIG") or "{}")


def run_config():
    """What tf.estimator.RunConfig of TensorFlow 1 makes of TF_CONFIG; an evaluator stands outside its cluster."""
    config = tf_config()
    cluster, task = config.get("cluster", {}), config.get("task", {"type": "worker", "index": 0})
    role, index = task["type"], task["index"]
    if role == "evaluator":
        return {"master": "", "task_id": index, "num_ps_replicas": 0, "num_worker_replicas": 0, "cluster_spec": {},
                "task_type": role, "is_chief": False}
    return {"master": "grpc://" + cluster[role][index], "task_id": index,
            "num_ps_replicas": len(cluster.get("ps", [])),
            "num_worker_replicas": len(cluster.get("worker", [])) + len(cluster.get("chief", [])),
            "cluster_spec": cluster, "task_type": role, "is_chief": role == "chief"}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/exit":
            self.server.exit_code = int(urllib.parse.parse_qs(url.query).get("exitCode", ["0"])[0])
            return self.answer(f"ending with {self.server.exit_code}\n")
        answers = {"/": lambda: "a replica\n", "/tfconfig": lambda: os.environ.get("TF_CONFIG", ""),
                   "/runconfig": lambda: json.dumps(run_config())}
        if url.path not in answers:
            return self.send_error(404)
        self.answer(answers[url.path]())

    def answer(self, text):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())


def serve():
    server = http.server.HTTPServer(("", PORT), Handler)
    server.exit_code = None
    while server.exit_code is None:
        server.handle_request()
    sys.exit(server.exit_code)


def ask(address, deadline):
    """A task may not be up, nor its name known, when the first of its peers starts."""
    while True:
        try:
            return urllib.request.urlopen(f"http://{address}/tfconfig", timeout=5).read()
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def smoke(chief):
    if f"{tf_config()['task']['type']}-{tf_config()['task']['index']}" != chief:
        serve()
    mine = tf_config()["cluster"]
    deadline = time.monotonic() + 20
    for tasks in mine.values():
        for address in tasks:
            if address != mine[tf_config()["task"]["type"]][tf_config()["task"]["index"]]:
                theirs = json.loads(ask(address, deadline))["cluster"]
                assert theirs == mine, f"{address} has {theirs}"
    print("every task has the same cluster")


if __name__ == "__main__":
    smoke(sys.argv[2]) if sys.argv[1:2] == ["smoke"] else serve()
