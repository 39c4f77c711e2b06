"""Virtual GPUs: who gets which, and what programs in pods see of them."""
import pathlib
import re

import pytest

from cluster import BUILD, Cluster

IMAGES = pathlib.Path(__file__).parent / "images"


def pod(name, command="sleep 60", limits="{}", extra=""):
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  {extra}
  containers:
  - name: c
    image: busybox:1
    command: [sh, -c, '{command}']
    resources: {{limits: {limits}}}
"""


def job(name):
    return f"""
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {{name: {name}}}
spec:
  tfReplicaSpecs:
    PS:
      replicas: 1
      template: {{spec: {{terminationGracePeriodSeconds: 0, containers: [{{name: tensorflow, image: "busybox:1", command: [sh, -c, "env; nvidia-smi; sleep 60"]}}]}}}}
    Worker:
      replicas: 1
      template:
        spec:
          terminationGracePeriodSeconds: 0
          containers:
          - name: tensorflow
            image: busybox:1
            command: [sh, -c, "nvidia-smi -L; sleep 60"]
            resources: {{limits: {{nvidia.com/gpu: 1}}}}
"""


def uuids(text):
    return re.findall(r"UUID: (GPU-[0-9a-f-]+)", text)


def logs(cluster, name, until):
    return cluster.until(lambda: (lambda text: text if until in text else "")(
        cluster.run("logs", name, code=None).stdout), f"{until!r} in the log of {name}")


def test_two_jobs_never_share_and_the_third_waits(cluster):
    for name in ("a", "b", "c"):
        cluster.apply(job(name))
    seen = [uuids(logs(cluster, f"{name}-worker-0", "UUID")) for name in ("a", "b")]
    assert len({uuid for found in seen for uuid in found}) == 2
    waiting = cluster.until(lambda: cluster.jsonpath("{.status.conditions[0].message}", "pod", "c-worker-0"), "a reason")
    assert "1 Insufficient nvidia.com/gpu" in waiting
    top = cluster.run("top", "gpus").stdout
    assert "default/a-worker-0" in top and "default/b-worker-0" in top and "A10 (virtual)" in top
    assert all(uuid in top for found in seen for uuid in found)
    assert uuids(cluster.run("info").stdout) == sorted(uuid for found in seen for uuid in found)
    assert "2 x A10 (virtual)" in cluster.run("get", "nodes", "-o", "wide").stdout
    cluster.run("delete", "tfjob", "a")
    assert uuids(logs(cluster, "c-worker-0", "UUID")) == seen[0]


def test_a_ps_sees_no_gpu(cluster):
    cluster.apply(job("a"))
    text = logs(cluster, "a-ps-0", "nvidia-smi")
    assert "CUDA_VISIBLE_DEVICES=\n" in text and "NVIDIA_VISIBLE_DEVICES=void" in text
    assert "not found" in text  # no program of the driver is there at all


@pytest.fixture(scope="module")
def shared():
    with Cluster("shared") as made:
        config = made.write("cluster.yaml", f"""
apiVersion: tfemu.dev/v1alpha1
kind: Cluster
images: [{IMAGES}]
nodes:
- name: memory
  gpus: {{model: A10, count: 1}}
  gpuSharing: {{mode: memory}}
- name: mig
  gpus: {{model: A100-40GB, count: 1, mig: [3g.20gb, 1g.5gb]}}
- name: plain
  gpus: {{model: T4, count: 1}}
""")
        made.up("--config", config)
        yield made


def test_shares_of_one_gpu(shared):
    for name in ("s1", "s2", "s3"):
        shared.apply(pod(name, "nvidia-smi --query-gpu=memory.total --format=csv,noheader; env; sleep 60",
                         "{aliyun.com/gpu-mem: 10}"))
    for name in ("s1", "s2"):
        text = logs(shared, name, "ALIYUN_COM_GPU_MEM_DEV=24")
        assert text.startswith("10240 MiB") and "ALIYUN_COM_GPU_MEM_CONTAINER=10" in text
        assert "TF_FORCE_GPU_ALLOW_GROWTH=true" in text
    message = shared.until(lambda: shared.jsonpath("{.status.conditions[0].message}", "pod", "s3"), "a reason")
    assert "Insufficient aliyun.com/gpu-mem" in message or "Insufficient GPU memory in one device" in message
    shared.run("delete", "pod", "s1", "s2", "s3")


def test_mig_instances(shared):
    shared.apply(pod("m", "nvidia-smi -L; sleep 60", "{nvidia.com/mig-1g.5gb: 1}"))
    assert re.search(r"MIG 1g\.5gb .*UUID: MIG-00000000-", logs(shared, "m", "MIG-"))
    shared.run("delete", "pod", "m")


def test_monitors_from_pypi(shared):
    shared.run("image", "prepare", "tfemu/gpu-monitor:1", timeout=300)
    program = ("import pynvml as n; n.nvmlInit(); h = n.nvmlDeviceGetHandleByIndex(0); "
               "print(n.nvmlDeviceGetCount(), n.nvmlDeviceGetUUID(h), n.nvmlDeviceGetName(h))")
    text = pod("p", f'nvidia-smi -L; python -c "{program}"; gpustat --no-color --no-header; sleep 60',
               "{nvidia.com/gpu: 1}", "nodeSelector: {kubernetes.io/hostname: plain}")
    shared.apply(text.replace("busybox:1", "tfemu/gpu-monitor:1"))
    lines = logs(shared, "p", "[0]").splitlines()
    uuid = uuids(lines[0])[0]
    assert lines[1] == f"1 {uuid} Tesla T4 (emulated)"
    assert "Tesla T4 (emulated)" in lines[2]
    row = next(line for line in shared.run("top", "gpus").stdout.splitlines() if uuid in line)
    assert row.startswith("plain ")
    shared.run("delete", "pod", "p")


@pytest.mark.parametrize("limits, message", [
    ("{nvidia.com/gpu: 0.5}", "must be an integer"),
    ("{nvidia.com/gpu: -1}", "must be greater than or equal to 0"),
    ("{nvidia.com/gpucores: 120}", "must be at most 100 percent"),
    ("{nvidia.com/gpu: 1, aliyun.com/gpu-mem: 1}", "may not be set together"),
])
def test_wrong_amounts(shared, limits, message):
    done = shared.apply(pod("wrong", limits=limits), code=1)
    assert message in done.stderr and "manifest.yaml:" in done.stderr


def test_unknown_resources_are_named(shared):
    done = shared.apply(pod("typo", limits="{nvidia.com/gpuu: 1}"))
    assert "no node of this cluster offers nvidia.com/gpuu" in done.stderr and "nvidia.com/gpu" in done.stderr
    shared.run("delete", "pod", "typo")


@pytest.mark.parametrize("flags, message", [
    (("--gpus", "two"), "must be a number from 0 to 1024, all or none"),
    (("--gpus", "-1"), "must be a number"),
    (("--gpus", "2000"), "must be a number from 0 to 1024"),
    (("--gpus", "1", "--gpu-model", "A11"), "GPU model A11 is not known"),
    (("--gpus", "all", "--gpu-model", "A10"), "need a number"),
])
def test_wrong_flags(home, flags, message):
    assert message in home.run("up", *flags, code=1).stderr


def test_a_driver_that_hangs_or_breaks_is_said(home, tmp_path):
    home.environment["TFEMU_NVML"] = str(tmp_path / "no-such-driver.so")
    assert "no NVIDIA driver" in home.run("up", "--gpus", "all", code=1).stderr
    assert "virtual" in home.up("--gpus", "1").stdout


def real(*numbers):
    """A devices file that makes the emulated library look like a host's driver."""
    lines = [f"gpu\tindex={i}\tuuid=GPU-5a3f1c00-0000-4000-8000-00000000000{n}\tname=NVIDIA A10\t"
             f"memory_bytes=24696061952\tpci=00000000:0{n + 1}:00.0\tminor={n}\tdriver=550.54.15\tkind=real\n"
             for i, n in enumerate(numbers)]
    return "tfemu-gpus 1\n" + "".join(lines)


def test_gpus_of_the_host_and_one_that_vanishes(home):
    devices = home.write("devices", real(0, 1))
    home.environment |= {"TFEMU_NVML": str(BUILD / "runtime/gpu/libnvidia-ml.so.1"), "TFEMU_GPU_DEVICES": str(devices),
                         "TFEMU_GPU_WATCH_SECONDS": "1"}
    assert "GPUs: 2 x NVIDIA A10\n" in home.up("--gpus", "all").stdout
    home.write("devices.new", real(1)).rename(devices)
    events = home.until(lambda: (lambda text: text if "GPUUnhealthy" in text else "")(home.run("events").stdout), "an event")
    assert "GPU-5a3f1c00-0000-4000-8000-000000000000 is not given to pods any more: lost" in events
    home.apply(pod("p", limits="{nvidia.com/gpu: 2}"))
    reason = home.until(lambda: home.jsonpath("{.status.conditions[0].message}", "pod", "p"), "a reason")
    assert "Insufficient nvidia.com/gpu" in reason
    assert "NVIDIA A10 [lost]" in home.run("get", "nodes", "-o", "wide").stdout


def test_a_cluster_that_comes_back_with_fewer_nodes(home):
    config = ("apiVersion: tfemu.dev/v1alpha1\nkind: Cluster\nnodes:\n- name: b\n"
              "- {name: a, gpus: {model: A10, count: 1}}\n")
    home.up("--config", home.write("cluster.yaml", config))
    home.apply(pod("holds", "sleep 60", "{nvidia.com/gpu: 1}"))
    home.apply(pod("done", "true", extra="nodeName: b"))
    home.apply(pod("elsewhere", "sleep 60", extra="nodeName: b"))
    home.until_phase("holds", "Running")
    home.until_phase("elsewhere", "Running")
    home.until_phase("done", "Succeeded")
    home.run("down")
    home.up("--config", home.write("cluster.yaml", config.replace("- name: b\n", "")))
    assert re.search(r"^done +0/1 +Completed", home.run("get", "pods").stdout, re.M)
    assert home.run("get", "pod", "elsewhere", code=1).stderr
    home.apply(pod("waits", "sleep 60", "{nvidia.com/gpu: 1}", "nodeName: a"))
    home.until_phase("waits", "Running")  # the first one did not outlive the daemon
