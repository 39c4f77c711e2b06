"""The daemon dies, the supervisor dies, the disk lies: what goes on, what is told."""
import os
import pathlib
import signal
import subprocess
import time

import chaos
from cluster import pod
from test_clusters import alive, descendants


def supervisor_pid(cluster):
    return int((cluster.home / cluster.name / "supervisor.pid").read_text().split()[0])


def kill_supervisor(cluster):
    handle = os.pidfd_open(supervisor_pid(cluster))
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    os.close(handle)


def daemon_log(cluster):
    return (cluster.home / cluster.name / "daemon.log").read_text()


def container(cluster, name):
    return cluster.get("pod", name)["status"]["containerStatuses"][0]


def test_a_training_survives_kills_of_the_daemon(home):
    home.up()
    report = chaos.train(home, kills=10)
    print(report.line())
    assert report.ok(), report


def test_nothing_is_lost_when_the_daemon_is_killed_during_apply(home):
    home.up("--cpus", "64")
    report = chaos.apply_many(home, kills=6, count=15)
    print(report.line())
    assert report.ok(), report


def test_up_takes_running_pods_over_and_says_so(cluster):
    cluster.apply(pod("p", "sleep 600", "resources: {limits: {nvidia.com/gpu: 1}}"))
    cluster.until_phase("p", "Running")
    before = container(cluster, "p"), cluster.jsonpath("{.status.podIP}", "pod", "p")
    family = descendants([supervisor_pid(cluster)])
    assert chaos.kill_daemon(cluster)
    for words in (("info",), ("get", "pods"), ("logs", "p")):
        said = cluster.run(*words, code=1).stderr
        assert "is gone, but its pods go on" in said and "tfemu up" in said and "tfemu down" in said
    said = cluster.run("up", "--gpus", "3", code=1).stderr
    assert "started with: --gpus 2" in said and "tfemu down" in said
    assert "adopted 1 pod that ran on without a daemon" in cluster.up("--gpus", "2").stdout
    assert (container(cluster, "p"), cluster.jsonpath("{.status.podIP}", "pod", "p")) == before
    assert descendants([supervisor_pid(cluster)]) == family, "the same processes"
    assert cluster.run("exec", "p", "--", "hostname").stdout == "p\n"
    assert cluster.run("exec", "p", "--", "nvidia-smi", "-L").stdout.count("GPU ") == 1
    one = "resources: {limits: {nvidia.com/gpu: 1}}"
    cluster.apply(pod("second", "sleep 600", one) + "---\n" + pod("third", "sleep 600", one))
    cluster.until_phase("second", "Running")
    assert cluster.jsonpath("{.status.phase}", "pod", "third") == "Pending", "p still holds the first GPU"
    cluster.run("delete", "pod", "second", "third")
    cluster.apply(pod("q", "sleep 600"))
    cluster.until_phase("q", "Running")
    assert cluster.jsonpath("{.status.podIP}", "pod", "q") != before[1]
    cluster.run("delete", "pod", "p")
    cluster.until(lambda: [item["metadata"]["name"] for item in cluster.items("pods")] == ["q"], "end of p")


def test_what_happened_without_a_daemon_is_in_the_status(cluster):
    cluster.apply(pod("good", "sleep 0.6") + "---\n" + pod("bad", "sleep 0.6; exit 7") + "---\n" +
                  pod("leaving", "trap 'sleep 0.3; exit 0' TERM; while :; do sleep 0.05; done"))
    for name in ("good", "bad", "leaving"):
        cluster.until_phase(name, "Running")
    cluster.run("delete", "pod", "leaving", "--wait=false")
    assert chaos.kill_daemon(cluster)
    time.sleep(0.8)
    cluster.up("--gpus", "2")
    cluster.until_phase("good", "Succeeded")
    cluster.until_phase("bad", "Failed")
    ended = container(cluster, "bad")["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (7, "Error")
    cluster.until(lambda: len(cluster.items("pods")) == 2, "end of leaving")
    assert chaos.kill_daemon(cluster)
    cluster.up("--gpus", "2")
    assert container(cluster, "bad")["state"]["terminated"] == ended, "an end stays what it was"


def test_a_container_stays_ready_until_its_probe_says_otherwise(cluster):
    cluster.apply(pod("p", "touch /tmp/ready; sleep 600",
                      "readinessProbe: {exec: {command: [test, -e, /tmp/ready]}, initialDelaySeconds: 2, periodSeconds: 3600}"))
    cluster.until(lambda: container(cluster, "p")["ready"], "readiness")
    before = cluster.get("pod", "p")["status"]["conditions"]
    cluster.run("exec", "p", "--", "rm", "/tmp/ready")
    assert chaos.kill_daemon(cluster)
    cluster.up("--gpus", "2")
    assert cluster.get("pod", "p")["status"]["conditions"] == before
    cluster.until(lambda: "Readiness probe failed" in cluster.run("events", "--for", "pod/p").stdout, "the first probe")


def test_clients_of_a_daemon_that_dies_are_told(cluster):
    cluster.apply(pod("p", "echo up; sleep 600"))
    cluster.until_phase("p", "Running")
    clients = [cluster.start(*words) for words in (
        ("logs", "-f", "p"), ("exec", "p", "--", "sleep", "600"), ("get", "pods", "-w"),
        ("wait", "--for=condition=Ready=False", "pod/p", "--timeout=60s"))]
    time.sleep(0.3)
    assert chaos.kill_daemon(cluster)
    for client in clients:
        _, said = client.communicate(timeout=20)
        assert client.returncode not in (0, None), client.args
        assert "error:" in said and "tfemu info" in said, (client.args, said)  # which says what to do


def test_a_killed_supervisor_is_a_node_that_fails(cluster):
    cluster.apply(pod("never", "sleep 600") + "---\n" +
                  pod("always", "sleep 600").replace("restartPolicy: Never", "restartPolicy: Always"))
    for name in ("never", "always"):
        cluster.until_phase(name, "Running")
    family = descendants([supervisor_pid(cluster)])
    kill_supervisor(cluster)
    cluster.until_phase("never", "Failed")
    ended = container(cluster, "never")["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (137, "ContainerStatusUnknown")
    cluster.until(lambda: container(cluster, "always")["restartCount"] == 1 and
                  "running" in container(cluster, "always")["state"], "restart")
    assert not alive(family)
    cluster.run("exec", "always", "--", "getent", "hosts", "kubernetes.default.svc", code=None)
    cluster.apply("""apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: none}, ports: [{port: 80}]}
""")
    assert cluster.run("exec", "always", "--", "getent", "hosts", "web").stdout, "DNS works in the new network"


def test_both_killed(cluster):
    cluster.apply(pod("never", "sleep 600") + "---\n" +
                  pod("always", "sleep 600").replace("restartPolicy: Never", "restartPolicy: Always"))
    for name in ("never", "always"):
        cluster.until_phase(name, "Running")
    assert chaos.kill_daemon(cluster)
    kill_supervisor(cluster)
    said = cluster.up("--gpus", "2").stdout
    assert "lost 2 pods: tfemu-supervisor was killed while no daemon ran" in said
    cluster.until_phase("never", "Failed")
    cluster.until(lambda: container(cluster, "always")["restartCount"] == 1 and
                  "running" in container(cluster, "always")["state"], "restart")


def test_after_a_reboot(cluster):
    cluster.apply(pod("p", "sleep 600"))
    cluster.until_phase("p", "Running")
    assert chaos.kill_daemon(cluster)
    kill_supervisor(cluster)
    record = cluster.home / cluster.name / "supervisor.pid"
    record.write_text(" ".join(record.read_text().split()[:2]) + " another-boot\n")
    assert "lost 1 pod: the host was restarted" in cluster.up("--gpus", "2").stdout
    cluster.until_phase("p", "Failed")


def test_down_without_a_daemon_leaves_nothing(home):
    home.up()
    home.apply(pod("p", "sleep 600"))
    home.until_phase("p", "Running")
    family = descendants([supervisor_pid(home)])
    assert chaos.kill_daemon(home)
    assert "ended" in home.run("down").stderr
    assert not alive(family)
    state = home.home / home.name
    assert not [path for path in state.rglob("*") if path.is_socket() and path.name != "socket"]
    assert not [line for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines() if str(home.home) in line]
    home.run("down", "--purge")
    assert not state.exists()


def test_a_damaged_state_stops_the_start_and_not_the_pods(cluster):
    cluster.apply(pod("p", "sleep 600"))
    cluster.until_phase("p", "Running")
    family = descendants([supervisor_pid(cluster)])
    assert chaos.kill_daemon(cluster)
    database = cluster.home / cluster.name / "state.db"
    kept = {path: path.read_bytes() for path in database.parent.glob("state.db*")}
    for path in kept:
        path.unlink()
    database.write_bytes(b"x" * 8192)
    said = cluster.run("up", "--gpus", "2", code=1).stderr
    assert "is damaged" in said and "tfemu down --purge" in said
    assert len(alive(family)) == len(family), "the pods go on"
    for path, data in kept.items():
        path.write_bytes(data)
    assert "adopted 1 pod" in cluster.up("--gpus", "2").stdout
    cluster.until_phase("p", "Running")


def test_sigterm_while_it_starts_ends_in_order(home):
    home.up()
    home.apply(pod("p", "sleep 600"))
    home.until_phase("p", "Running")
    program = chaos.daemon_program(home)
    family = descendants([supervisor_pid(home)])
    assert chaos.kill_daemon(home)
    for delay in (0.004, 0.008, 0.015):
        daemon = subprocess.Popen([program, "--home", home.home, "--cluster", home.name, "--foreground"],
                                  env=home.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(delay)
        daemon.terminate()
        daemon.communicate(timeout=20)
    # One that was hit before it could listen for signals has died as if killed: then its pods are there still.
    if daemon.returncode == 0:
        assert not alive(family)
    home.up()
    home.until(lambda: home.jsonpath("{.status.phase}", "pod", "p") in ("Running", "Failed"), "a true phase")
    assert (home.jsonpath("{.status.phase}", "pod", "p") == "Running") == bool(alive(family))
