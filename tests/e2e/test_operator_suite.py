"""The training operator's own end-to-end tests, all 18 of them: the same jobs, the same requests to the same program, the
same assertions, on one cluster, with one job name for all tests of a class, so that a name is used again at once."""
import json
import pathlib
import time

import pytest
import yaml

from cluster import ROOT, Cluster

NAMESPACE = "kubeflow"
SERVER = "tfemu/test-server:1"
ASK = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())"


class Suite:
    """The steps that the tests share, on a cluster with a pod that asks questions of others."""

    def __init__(self, cluster):
        self.cluster = cluster
        client = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "client", "namespace": NAMESPACE},
                  "spec": {"terminationGracePeriodSeconds": 0, "containers": [
                      {"name": "c", "image": "busybox:1", "command": ["sleep", "infinity"]}]}}
        cluster.run("create", "namespace", NAMESPACE)
        self.cluster.apply(yaml.safe_dump(client))
        cluster.until(lambda: self.get("pod", "client")["status"]["phase"] == "Running", "client")

    def get(self, *words):
        return self.cluster.get(*words, "-n", NAMESPACE)

    def create(self, name, roles, **run_policy):
        """`roles`: by key of tfReplicaSpecs, how many and what they are."""
        spec = {"tfReplicaSpecs": {key: dict(replica, replicas=count) for key, (count, replica) in roles.items()}}
        if run_policy:
            spec["runPolicy"] = run_policy
        job = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "spec": spec,
               "metadata": {"name": name, "namespace": NAMESPACE}}
        self.cluster.run("create", "-f", "-", stdin=yaml.safe_dump(job))

    def conditions(self, name):
        return [condition["type"] for condition in self.get("tfjob", name).get("status", {}).get("conditions", [])]

    def until_condition(self, name, *types):
        self.cluster.until(lambda: set(self.conditions(name)) & set(types), f"{types} of {name}")

    def pods(self, name, role=None):
        selector = f"training.kubeflow.org/job-name={name}"
        if role:
            selector += f",training.kubeflow.org/replica-type={role}"
        return self.get("pods", "-l", selector)["items"]

    def until_pods(self, name, role, phase):
        def all_are():
            phases = {pod["status"]["phase"] for pod in self.pods(name, role)}
            return phases == {phase}
        self.cluster.until(all_are, f"{phase} {role} pods of {name}")

    def ask(self, name, role, index, rpc):
        """Through the service of the replica, as soon as it answers: Running says nothing of its port."""
        url = f"http://{name}-{role}-{index}.{NAMESPACE}.svc:2222/{rpc}"

        def answered():
            done = self.cluster.run("exec", "client", "-n", NAMESPACE, "--", "python3", "-c", ASK, url, code=None)
            return done if done.returncode == 0 else None
        return self.cluster.until(answered, url).stdout

    def exit(self, name, role, index, code):
        self.ask(name, role, index, f"exit?exitCode={code}")

    def expect_success(self, name):
        self.until_condition(name, "Succeeded", "Failed")
        assert self.conditions(name)[-1] == "Succeeded", self.conditions(name)

    def expect_creation_events(self, name, replicas):
        uid = self.get("tfjob", name)["metadata"]["uid"]
        messages = [event["message"] for event in self.get("events")["items"]
                    if event["involvedObject"].get("uid") == uid]
        for what in ("pod", "service"):
            made = {message for message in messages if message.startswith(f"Created {what}: {name}-")}
            assert len(made) == replicas, messages

    def delete(self, name):
        self.cluster.run("delete", "tfjob", name, "-n", NAMESPACE, "--cascade=foreground")
        assert self.cluster.run("get", "tfjob", name, "-n", NAMESPACE, code=1).stderr


def table(name):
    """The rows of a table that the simulated control plane is held to, too, or of one for real replicas only."""
    text = (ROOT / "tests/golden/tables" / name).read_text()
    return [[cell.strip() for cell in line.split("|")] for line in text.splitlines()
            if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def suite():
    with Cluster("operator") as cluster:
        image = pathlib.Path(__file__).parent / "images/test-server"
        (cluster.home / "images/test-server").symlink_to(image)
        cluster.up("--cpus", "8")
        yield Suite(cluster)


def replica(policy="Never", image=SERVER, **container):
    return {"restartPolicy": policy, "template": {
        "metadata": {"annotations": {"sidecar.istio.io/inject": "false"}},
        "spec": {"terminationGracePeriodSeconds": 1,
                 "containers": [{"name": "tensorflow", "image": image, **container}]}}}


def smoke(chief):
    return replica(args=["smoke", chief], command=["python3", "-u", "/app/test_server.py"])


def run(suite, name, roles, replicas):
    suite.create(name, roles)
    suite.until_condition(name, "Running", "Succeeded", "Failed")
    suite.expect_success(name)
    suite.expect_creation_events(name, replicas)
    suite.delete(name)


def test_simple_tfjob_cpu(suite):
    for _ in range(2):
        run(suite, "simple-tfjob", {"Chief": (1, smoke("chief-0")), "PS": (2, smoke("chief-0")),
                                    "Worker": (4, smoke("chief-0"))}, 7)


def test_distributed_training_independent_worker(suite):
    run(suite, "distributed-training", {"Worker": (3, smoke("worker-0"))}, 3)


def expected_run_config(name, row):
    role, index, chief, master, workers, ps, sizes = row
    cluster = {key[:-1]: [f"{name}-{key[:-1]}-{i}.{NAMESPACE}.svc:2222" for i in range(int(key[-1]))]
               for key in sizes.split() if key != "-"}
    return {"task_type": role, "task_id": int(index), "cluster_spec": cluster, "is_chief": chief == "true",
            "master": "" if master == "-" else f"grpc://{name}-{master}.{NAMESPACE}.svc:2222",
            "num_worker_replicas": int(workers), "num_ps_replicas": int(ps)}


def test_estimator_runconfig(suite):
    name = "estimator-runconfig"
    suite.create(name, {"Chief": (1, replica()), "PS": (2, replica()), "Worker": (2, replica()),
                        "Evaluator": (1, replica())}, cleanPodPolicy="All")
    suite.until_condition(name, "Running", "Succeeded", "Failed")
    for row in table("e2e/run_config.txt"):
        assert json.loads(suite.ask(name, row[0], row[1], "runconfig")) == expected_run_config(name, row)
    suite.until_pods(name, "chief", "Running")
    suite.exit(name, "chief", 0, 0)
    suite.expect_success(name)
    suite.delete(name)


def test_invalid_tfjob_spec(suite):
    job = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": "invalid", "namespace": NAMESPACE},
           "spec": {"notTheActualField": {"Ps": dict(replica(), replicas=2), "Worker": dict(replica(), replicas=4)}}}
    done = suite.cluster.run("create", "-f", "-", stdin=yaml.safe_dump(job), code=1)
    assert "spec.tfReplicaSpecs: Required value" in done.stderr
    assert suite.pods("invalid") == []


@pytest.mark.parametrize("driver", ["chief", "worker"])
def test_shutdown(suite, driver):
    name = "shutdown-policy"
    roles = {"Ps": (2, replica()), "Worker": (4, replica())}
    if driver == "chief":
        roles["Chief"] = (1, replica())
    suite.create(name, roles)
    suite.until_pods(name, driver, "Running")
    suite.exit(name, driver, 0, 0)
    suite.expect_success(name)
    others = [pod["status"]["phase"] for pod in suite.pods(name)
              if pod["metadata"]["name"] != f"{name}-{driver}-0"]
    assert others == ["Running"] * 6 if driver == "chief" else others == ["Running"] * 5
    suite.delete(name)


@pytest.mark.parametrize("policy, code, again, phase", table("exits.txt"))
def test_restart(suite, policy, code, again, phase):
    restarts = again == "yes"
    name = "replica-restart-policy"
    suite.create(name, {"PS": (1, replica(policy)), "Worker": (2, replica(policy))})
    suite.until_pods(name, "ps", "Running")
    before = suite.pods(name, "ps")[0]["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
    # Start times have whole seconds: one that follows in the same second would not be seen to be later.
    suite.cluster.until(lambda: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()) > before, "the next second")
    suite.exit(name, "ps", 0, code)

    def after():
        pods = suite.pods(name, "ps")
        if [pod["status"]["phase"] for pod in pods] != [phase]:
            return None
        state = pods[0]["status"]["containerStatuses"][0]["state"]
        ended = phase != "Running"
        started = state.get("terminated" if ended else "running", {}).get("startedAt")
        return started if started and (started != before or not restarts) else None
    started = suite.cluster.until(after, f"{phase} ps-0")
    assert started > before if restarts else started == before
    suite.delete(name)


@pytest.mark.parametrize("policy", ["All", "Running", "None"])
def test_cleanpod(suite, policy):
    name = "cleanpod-policy"
    hello = replica(image="busybox:1", command=["echo", "Hello"])
    tail = replica(image="busybox:1", command=["tail", "-f", "/dev/null"])
    # Upstream's chief says hello, too; then a worker that is still to start may be cleaned away.
    suite.create(name, {"Chief": (1, replica()), "PS": (2, tail), "Worker": (4, hello)}, cleanPodPolicy=policy)
    suite.until_pods(name, "worker", "Succeeded")
    suite.until_pods(name, "ps", "Running")
    suite.exit(name, "chief", 0, 0)
    suite.expect_success(name)
    if policy == "All":
        suite.cluster.until(lambda: not suite.pods(name), "end of the pods")
    else:
        suite.until_pods(name, "chief", "Succeeded")
        suite.until_pods(name, "worker", "Succeeded")
        if policy == "Running":
            suite.cluster.until(lambda: not suite.pods(name, "ps"), "end of the PS pods")
        else:
            suite.until_pods(name, "ps", "Running")
    suite.delete(name)


def test_pod_names(suite):
    name = "pod-names-validation"
    sizes = {"Chief": 1, "PS": 2, "Worker": 3, "Evaluator": 1}
    suite.create(name, {key: (size, replica()) for key, size in sizes.items()}, cleanPodPolicy="All")
    suite.until_condition(name, "Running", "Succeeded", "Failed")
    expected = {f"{name}-{key.lower()}-{index}" for key, size in sizes.items() for index in range(size)}
    assert expected <= {pod["metadata"]["name"] for pod in suite.pods(name)}
    suite.until_pods(name, "chief", "Running")
    suite.exit(name, "chief", 0, 0)
    suite.expect_success(name)
    suite.delete(name)
