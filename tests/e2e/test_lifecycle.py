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
    done = cluster.apply(pod("p", "true", "livenessProbe: {exec: {command: [a]}, tcpSocket: {port: 1}}"), code=1)
    assert "may not specify more than 1 handler type" in done.stderr
