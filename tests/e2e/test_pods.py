"""What a pod finds: names, volumes, limits, exit codes, logs."""
import os
import re
import time

import pytest

from cluster import pod, tfjob


def test_names_of_the_job_are_found_inside(cluster):
    cluster.apply(tfjob("dns", "sleep 600", replicas=2))
    for n in range(2):
        cluster.until_phase(f"dns-worker-{n}", "Running")
    address = cluster.jsonpath("{.status.podIP}", "pod", "dns-worker-0")
    for name in ("dns-worker-0.default.svc", "dns-worker-0.default.svc.cluster.local", "dns-worker-0"):
        done = cluster.run("exec", "dns-worker-1", "--", "getent", "hosts", name)
        assert done.stdout.split()[0] == address, name
    back = cluster.run("exec", "dns-worker-1", "--", "getent", "hosts", address).stdout
    assert "dns-worker-0.default.svc.cluster.local" in back
    cluster.run("exec", "dns-worker-1", "--", "getent", "hosts", "nobody.default.svc", code=2)


def test_exec_returns_the_exit_code(cluster):
    cluster.apply(pod("p", "sleep 600"))
    cluster.until_phase("p", "Running")
    assert cluster.run("exec", "p", "--", "sh", "-c", "echo out; echo err >&2; exit 9", code=9).stdout == "out\n"
    assert cluster.run("exec", "-i", "p", "--", "cat", stdin="through\n").stdout == "through\n"
    assert cluster.run("exec", "p", "--", "hostname").stdout == "p\n"


@pytest.mark.parametrize("command, code, reason", [
    ("exit 3", 3, "Error"),
    ("exit 0", 0, "Completed"),
])
def test_exit_codes(cluster, command, code, reason):
    cluster.apply(pod("p", command))
    cluster.until_phase("p", "Failed" if code else "Succeeded")
    state = cluster.get("pod", "p")["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (state["exitCode"], state["reason"]) == (code, reason)


def test_out_of_memory_is_told(cluster):
    if "none" in re.search(r"(?im)^.*cgroup.*$", cluster.run("info").stdout)[0]:
        pytest.skip("no memory limits on this host")
    cluster.apply(pod("greedy", "exec python3 -c 'print(len(bytearray(200 << 20)))'",
                      "resources: {limits: {memory: 32Mi}}"))
    cluster.until(lambda: cluster.get("pod", "greedy")["status"].get("phase") in ("Failed", "Succeeded"), "end")
    state = cluster.get("pod", "greedy")["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (state["reason"], state["exitCode"]) == ("OOMKilled", 137)


def test_volumes_and_environment(cluster):
    cluster.apply("""apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {mode: fast}
---
apiVersion: v1
kind: Secret
metadata: {name: hidden}
stringData: {token: s3cret}
---
""" + pod("p", "cat /etc/settings/mode /etc/hidden/token; echo; echo $MODE $(printenv NODE) $POD; ls /scratch; "
               "sleep 600",
          """env:
- {name: MODE, valueFrom: {configMapKeyRef: {name: settings, key: mode}}}
- {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
- {name: NODE, value: "$(POD)-x"}
volumeMounts:
- {name: settings, mountPath: /etc/settings}
- {name: hidden, mountPath: /etc/hidden}
- {name: scratch, mountPath: /scratch}""",
          """volumes:
- {name: settings, configMap: {name: settings}}
- {name: hidden, secret: {secretName: hidden}}
- {name: scratch, emptyDir: {}}"""))
    cluster.until_phase("p", "Running")
    cluster.until(lambda: "p-x" in cluster.run("logs", "p").stdout, "output")
    assert cluster.run("logs", "p").stdout.startswith("fasts3cret\nfast ")


def test_logs_are_whole(cluster):
    """Long lines, many lines, bytes that are no text: all arrive, in order."""
    cluster.apply(pod("talker", "head -c 1000000 /dev/zero | tr '\\0' x; echo; seq 100000; printf '\\377\\n'"))
    cluster.until_phase("talker", "Succeeded")
    lines = cluster.run("logs", "talker").stdout.split("\n")
    assert lines[0] == "x" * 1000000
    assert lines[1:100001] == [str(n) for n in range(1, 100001)]
    assert cluster.run("logs", "talker", "--tail=2").stdout.split("\n")[0] == "100000"


def test_logs_follow_until_the_end(cluster):
    cluster.apply(pod("slow", "for i in 1 2 3 4 5; do echo tick $i; sleep 0.2; done"))
    cluster.until(lambda: cluster.run("logs", "slow", code=None).returncode == 0, "log")
    assert cluster.run("logs", "-f", "slow", timeout=30).stdout.endswith("tick 5\n")


def test_wait_returns_soon_after_the_end(cluster):
    cluster.apply(tfjob("quick", "date +%s.%N"))
    cluster.run("wait", "--for=condition=Succeeded", "tfjob/quick", "--timeout=30s")
    returned = time.time()
    ended = float(cluster.run("logs", "quick-worker-0").stdout)
    assert returned - ended < 2


def test_delete_removes_the_pods(cluster):
    cluster.apply(tfjob("job", "sleep 600", replicas=2))
    cluster.until_phase("job-worker-1", "Running")
    cluster.run("delete", "tfjob", "job")
    cluster.until(lambda: not cluster.items("pods") and not
                  [item for item in cluster.items("services") if item["metadata"]["name"] != "kubernetes"], "end")


def test_scale_a_deployment(cluster):
    cluster.apply("""apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: "busybox:1", command: [sleep, "600"]}]
""")
    cluster.run("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")
    cluster.run("scale", "deployment/web", "--replicas=3")
    cluster.until(lambda: cluster.get("deployment", "web")["status"].get("availableReplicas") == 3, "3 replicas")
    cluster.run("scale", "deployment/web", "--replicas=0")
    cluster.until(lambda: not cluster.items("pods"), "no pod")


def test_the_host_is_read_only_to_pods(cluster):
    cluster.apply(pod("writer", "touch /usr/tfemu-was-here"))
    cluster.until(lambda: cluster.get("pod", "writer")["status"].get("phase") in ("Failed", "Succeeded"), "end")
    assert not os.path.exists("/usr/tfemu-was-here")
