"""Manifests of older versions of TFJob run to their end, and the settings of older controllers reach the pods."""
import json

import pytest

from cluster import Cluster, tfjob

V1BETA2 = """apiVersion: kubeflow.org/v1beta2
kind: TFJob
metadata:
  name: beta
spec:
  cleanPodPolicy: All
  backoffLimit: 3
  tfReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: Never
      template:
        spec:
          containers:
          - name: tensorflow
            image: busybox:1
            command: [sh, -c, "exit 0"]
"""

V1ALPHA1 = """apiVersion: kubeflow.org/v1alpha1
kind: TFJob
metadata:
  name: alpha
spec:
  replicaSpecs:
  - replicas: 1
    tfReplicaType: MASTER
    template:
      spec:
        containers:
        - name: tensorflow
          image: busybox:1
          command: [sh, -c, "exit 0"]
        restartPolicy: OnFailure
  - replicas: 1
    tfReplicaType: PS
    tfPort: 3333
    template:
      spec:
        terminationGracePeriodSeconds: 0
        containers:
        - name: tensorflow
          image: busybox:1
          command: [sleep, "1000"]
  cleanupPodPolicy: Running
  terminationPolicy:
    chief:
      replicaName: MASTER
      replicaIndex: 0
"""

CONFIG = """apiVersion: tfemu.dev/v1alpha1
kind: Cluster
tfjob:
  profile: v1.0
  customClusterDomain: tf.example
"""


@pytest.fixture(scope="module")
def cluster():
    with Cluster("layouts") as cluster:
        cluster.up("--config", cluster.write("cluster.yaml", CONFIG))
        yield cluster


def succeed(cluster, text, name, warnings):
    path = cluster.write(f"{name}.yaml", text)
    refused = cluster.run("apply", "-f", path, "--strict", code=None)
    assert refused.returncode != 0 and f"{path}:1: apiVersion: " in refused.stderr
    done = cluster.run("run", "--keep", path)
    for line, field in warnings:
        assert f"{path}:{line}: {field}: " in done.stderr, done.stderr
    job = cluster.get("tfjob", name)
    assert job["apiVersion"] == "kubeflow.org/v1"
    assert job["status"]["conditions"][-1]["type"] == "Succeeded"
    return job


def test_v1beta2(cluster):
    job = succeed(cluster, V1BETA2, "beta", [(1, "apiVersion"), (6, "spec.cleanPodPolicy"), (7, "spec.backoffLimit")])
    assert job["spec"]["runPolicy"] == {"backoffLimit": 3, "cleanPodPolicy": "All", "suspend": False}


def test_v1alpha1(cluster):
    job = succeed(cluster, V1ALPHA1, "alpha", [(1, "apiVersion"), (7, "spec.replicaSpecs[0]"),
                                               (16, "spec.replicaSpecs[1]"), (26, "spec.cleanupPodPolicy")])
    assert set(job["spec"]["tfReplicaSpecs"]) == {"Master", "PS"}
    assert job["spec"]["tfReplicaSpecs"]["Master"]["restartPolicy"] == "OnFailure"
    cluster.until(lambda: [pod["metadata"]["name"] for pod in cluster.items("pods")
                           if pod["metadata"]["name"].startswith("alpha-")] == ["alpha-master-0"], "end of the PS")


def test_settings_reach_the_pods(cluster):
    """The profile gives a lone worker its TF_CONFIG, and the name in it is one that the cluster's DNS answers."""
    assert "singleReplicaConfig: true" in cluster.run("info").stdout
    asks = "import json, os, socket; host = json.loads(os.environ['TF_CONFIG'])['cluster']['worker'][0].split(':')[0]; " \
           "print(host, socket.gethostbyname(host) == socket.gethostbyname(socket.gethostname()))"
    cluster.run("run", "--keep", "-", stdin=tfjob("lone", f"sleep 1; python3 -c {json.dumps(asks)}"))
    assert cluster.run("logs", "lone-worker-0").stdout == "lone-worker-0.default.svc.tf.example True\n"
