"""Probes, lifecycle handlers, deadlines and users of real containers."""
import re


def pod(name, command, container="", spec=""):
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: 2
  {spec}
  containers:
  - name: c
    image: busybox:1
    command: [sh, -c, '{command}']
    {container}
"""


def ready(cluster, name):
    return cluster.jsonpath("{.status.containerStatuses[0].ready}", "pod", name) == "true"


def test_readiness_follows_a_file(cluster):
    cluster.apply(pod("p", "sleep 60", "readinessProbe: {exec: {command: [test, -e, /tmp/ready]}, periodSeconds: 1, failureThreshold: 1}"))
    cluster.until(lambda: "Readiness probe failed" in cluster.run("events", "--for", "pod/p").stdout, "an event")
    assert not ready(cluster, "p")
    cluster.run("exec", "p", "--", "touch", "/tmp/ready")
    cluster.until(lambda: ready(cluster, "p"), "readiness")
    cluster.run("exec", "p", "--", "rm", "/tmp/ready")
    cluster.until(lambda: not ready(cluster, "p"), "no readiness")


def test_liveness_restarts_and_says_why(cluster):
    cluster.apply(pod("p", "trap \"exit 3\" TERM; echo born; while :; do sleep 0.1; done",
                      "livenessProbe: {tcpSocket: {port: 9}, periodSeconds: 1, failureThreshold: 2}"))
    cluster.until(lambda: cluster.jsonpath("{.status.containerStatuses[0].restartCount}", "pod", "p") == "1", "a restart")
    events = cluster.run("events", "--for", "pod/p").stdout
    assert re.search(r"Unhealthy .*Liveness probe failed: dial tcp 10\.244\.\d+\.\d+:9: connect: connection refused", events)
    assert "Container c failed liveness probe, will be restarted" in events
    assert cluster.jsonpath("{.status.containerStatuses[0].lastState.terminated.exitCode}", "pod", "p") == "3"


def test_http_and_startup(cluster):
    server = "mkdir /tmp/w; cd /tmp/w; touch ok; exec python3 -m http.server 8080"
    cluster.apply(pod("p", server, """startupProbe: {httpGet: {path: /ok, port: web}, periodSeconds: 1, failureThreshold: 30}
    readinessProbe: {httpGet: {path: /missing, port: 8080}, periodSeconds: 1}
    ports: [{name: web, containerPort: 8080}]"""))
    cluster.until(lambda: cluster.jsonpath("{.status.containerStatuses[0].started}", "pod", "p") == "true", "a start")
    cluster.until(lambda: "HTTP probe failed with statuscode: 404" in cluster.run("events", "--for", "pod/p").stdout, "404")
    assert not ready(cluster, "p")
    cluster.run("exec", "p", "--", "touch", "/tmp/w/missing")
    cluster.until(lambda: ready(cluster, "p"), "readiness")


SERVER = """import http.server, ssl, subprocess
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        to = {"/moved": "/sick", "/away": "http://192.0.2.1/"}.get(self.path)
        self.send_response(302 if to else 503 if self.path == "/sick" else 200)
        if to:
            self.send_header("Location", to)
        self.end_headers()
subprocess.run("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout /tmp/k -out /tmp/c".split(), check=True)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/tmp/c", "/tmp/k")
server = http.server.HTTPServer(("", 8443), Answers)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def test_https_and_redirects(cluster):
    cluster.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: server}\ndata:\n  server.py: |\n    "
                  + SERVER.replace("\n", "\n    "))
    for name, path in (("well", "/"), ("away", "/away"), ("moved", "/moved")):
        cluster.apply(pod(name, "exec python3 /srv/server.py", f"""volumeMounts: [{{name: s, mountPath: /srv}}]
    readinessProbe: {{httpGet: {{path: {path}, port: 8443, scheme: HTTPS}}, periodSeconds: 1}}""",
                          "volumes: [{name: s, configMap: {name: server}}]"))
    cluster.until(lambda: ready(cluster, "well") and ready(cluster, "away"), "readiness over TLS")
    cluster.until(lambda: "HTTP probe failed with statuscode: 503" in cluster.run("events", "--for", "pod/moved").stdout,
                  "where the redirect leads")
    assert not ready(cluster, "moved")


def test_a_sidecar_serves_a_job_and_ends_with_it(cluster):
    cluster.apply("""
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never
  shareProcessNamespace: true
  terminationGracePeriodSeconds: 5
  initContainers:
  - name: side
    image: busybox:1
    restartPolicy: Always
    command: [sh, -c, 'trap "echo bye > /dev/termination-log; exit 0" TERM; touch /shared/up; while :; do sleep 0.05; done']
    startupProbe: {exec: {command: [test, -e, /shared/up]}, periodSeconds: 1}
    volumeMounts: [{name: shared, mountPath: /shared}]
  containers:
  - name: main
    image: busybox:1
    command: [sh, -c, 'test -e /shared/up && printf "the answer is 42" > /tmp/said; exit 3']
    terminationMessagePath: /tmp/said
    volumeMounts: [{name: shared, mountPath: /shared}]
  volumes: [{name: shared, emptyDir: {}}]
""")
    cluster.until_phase("p", "Failed")
    status = cluster.get("pod", "p")["status"]
    main = status["containerStatuses"][0]["state"]["terminated"]
    side = status["initContainerStatuses"][0]["state"]["terminated"]
    assert (main["exitCode"], main["message"]) == (3, "the answer is 42")
    assert (side["exitCode"], side["message"]) == (0, "bye\n")


def test_the_log_is_the_message_of_a_failure(cluster):
    cluster.apply(pod("p", "echo what went wrong; exit 1", "terminationMessagePolicy: FallbackToLogsOnError",
                      "restartPolicy: Never"))
    cluster.until_phase("p", "Failed")
    state = cluster.get("pod", "p")["status"]["containerStatuses"][0]["state"]["terminated"]
    assert state["message"] == "what went wrong\n"


def test_security_context(cluster):
    cluster.apply(pod("p", "grep NoNewPrivs /proc/self/status; touch /x || echo read-only; chown 1 /tmp || echo no chown; sleep 60",
                      """securityContext:
      readOnlyRootFilesystem: true
      allowPrivilegeEscalation: false
      capabilities: {drop: [ALL]}"""))
    cluster.until(lambda: "no chown" in cluster.run("logs", "p", code=None).stdout, "the output")
    words = cluster.run("logs", "p").stdout.split()
    assert words[:2] == ["NoNewPrivs:", "1"] and "read-only" in words
    cluster.apply(pod("root", "true", "securityContext: {runAsNonRoot: true}"))
    cluster.until(lambda: "runAsNonRoot and image will run as root" in
                  cluster.jsonpath("{.status.containerStatuses[0].state.waiting.message}", "pod", "root"), "the refusal")


def test_dns_settings_and_aliases(cluster):
    cluster.apply(pod("p", "cat /etc/resolv.conf; getent hosts db.example; sleep 60", "", """dnsPolicy: None
  dnsConfig: {nameservers: [192.0.2.9], searches: [a.example, b.example], options: [{name: ndots, value: "2"}, {name: edns0}]}
  hostAliases: [{ip: 192.0.2.7, hostnames: [db.example, db]}]"""))
    cluster.until(lambda: "db.example" in cluster.run("logs", "p", code=None).stdout, "the output")
    lines = cluster.run("logs", "p").stdout.splitlines()
    assert lines[:3] == ["search a.example b.example", "nameserver 192.0.2.9", "options ndots:2 edns0"]
    assert lines[3].split()[0] == "192.0.2.7"


def test_handlers(cluster):
    cluster.apply(pod("p", "trap \"echo got TERM; exit\" TERM; while :; do sleep 0.1; done", """lifecycle:
      postStart: {exec: {command: [sh, -c, "echo started > /tmp/post"]}}
      preStop: {exec: {command: [sh, -c, "echo stopping > /proc/1/fd/1"]}}"""))
    cluster.until_phase("p", "Running")
    cluster.until(lambda: "started" in cluster.run("exec", "p", "--", "cat", "/tmp/post", code=None).stdout, "postStart")
    log = cluster.start("logs", "-f", "p")
    cluster.run("delete", "pod", "p")
    text = log.communicate(timeout=20)[0]
    assert text.index("stopping") < text.index("got TERM")


def test_a_deadline(cluster):
    cluster.apply(pod("p", "sleep 60", spec="activeDeadlineSeconds: 1"))
    cluster.until_phase("p", "Failed")
    assert cluster.jsonpath("{.status.reason}", "pod", "p") == "DeadlineExceeded"


def test_users(cluster):
    cluster.apply(pod("p", "id -u; id -g; sleep 60", "securityContext: {runAsUser: 1234}",
                      "securityContext: {runAsUser: 99, runAsGroup: 77}"))
    cluster.until(lambda: cluster.run("logs", "p", code=None).stdout == "1234\n77\n", "the ids")


def test_what_is_refused(cluster):
    done = cluster.apply(pod("p", "true", "livenessProbe: {periodSeconds: 1}"), code=1)
    assert "must specify a handler type" in done.stderr
    done = cluster.apply(pod("p", "true", "restartPolicy: Always"), code=1)
    assert "may not be set for non-init containers" in done.stderr
    done = cluster.apply(pod("p", "true", spec="dnsPolicy: None"), code=1)
    assert "must provide at least one DNS nameserver when `dnsPolicy` is None" in done.stderr
    done = cluster.apply(pod("p", "true", "livenessProbe: {exec: {command: [a]}, tcpSocket: {port: 1}}"), code=1)
    assert "may not specify more than 1 handler type" in done.stderr
