"""Pods as ECI instances: the tutorial's annotation, what is written back, and what it costs."""
from test_gpus import logs, pod

ZONE = "virtual-kubelet-cn-beijing-k"
SPEC = "ecs.gn7i-c8g1.2xlarge"


def annotated(text, **annotations):
    lines = ", ".join(f"k8s.aliyun.com/{key.replace('_', '-')}: '{value}'" for key, value in annotations.items())
    return text.replace("metadata: {", f"metadata: {{annotations: {{{lines}}}, ")


def test_an_instance_with_its_gpu(home):
    home.up("--eci", "cn-beijing-k,cn-beijing-h")
    nodes = home.run("get", "nodes").stdout
    assert ZONE in nodes and "virtual-kubelet-cn-beijing-h" in nodes and "agent" in nodes
    home.apply(annotated(pod("p", "nvidia-smi -L; cat /proc/self/cgroup; sleep 60", "{nvidia.com/gpu: 1}"), eci_use_specs=SPEC))
    assert "NVIDIA A10 (emulated)" in logs(home, "p", "UUID")
    made = home.get("pod", "p")
    notes = {key.removeprefix("k8s.aliyun.com/"): value for key, value in made["metadata"]["annotations"].items()}
    assert made["spec"]["nodeName"] == ZONE
    assert notes["eci-instance-spec"] == SPEC and notes["eci-instance-id"].startswith("eci-")
    described = home.run("describe", "pod", "p").stdout
    assert f"{SPEC} (eci-" in described and "is not known (eci.prices)" in described


def test_a_job_and_its_cost(home):
    manifest = home.write("job.yaml", """
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: j}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - {name: tensorflow, image: "busybox:1", command: [sh, -c, "sleep 1.2"], resources: {limits: {cpu: 2, memory: 3Gi}}}
""")
    done = home.run("run", "--eci", "cn-beijing-k", manifest)
    assert "2 ECI instances, 0.8824 CNY/h, 0.00" in done.stderr + done.stdout  # 2 x (2 x 0.1764 + 4 x 0.0221)


def test_stock_prices_and_a_modelled_pull(home):
    config = home.write("cluster.yaml", f"""
apiVersion: tfemu.dev/v1alpha1
kind: Cluster
timeScale: 10
eci:
  serverless: true
  stock: {{{SPEC}: 1}}
  prices: {{{SPEC}: 9.5}}
  pull: {{sandboxSeconds: 5}}
""")
    home.up("--config", config)
    for name in ("first", "second"):
        home.apply(annotated(pod(name, limits="{nvidia.com/gpu: 1}"), eci_use_specs=SPEC))
    home.until_phase("first", "Running")
    assert "9.5000 CNY/h" in home.run("describe", "pod", "first").stdout
    waiting = home.get("pod", "second")["status"]["conditions"]
    assert {"ContainerInstanceCreated": "NoStock"}.items() <= {c["type"]: c.get("reason") for c in waiting}.items()
    home.run("delete", "pod", "first")
    home.until_phase("second", "Running")


def test_wrong_annotations(home):
    home.up("--eci", "cn-beijing-k")
    refused = home.apply(annotated(pod("p"), eci_use_specs="ecs.gn7i-c8g1.3xlarge"), code=1).stderr
    assert "is not in the catalogue" in refused and f"near it: {SPEC}" in refused and "manifest.yaml:4" in refused
    warned = home.apply(annotated(pod("p"), eci_use_spec="2-4Gi", eci_with_eip="true")).stderr
    assert "did you mean k8s.aliyun.com/eci-use-specs?" in warned and "no way to the internet" in warned


def test_a_wrong_description(home):
    config = home.write("cluster.yaml", """
apiVersion: tfemu.dev/v1alpha1
kind: Cluster
eci:
  stock: {ecs.gn7i-c8g1.2xlarg: 1}
""")
    assert "cluster.yaml:5: eci.stock.ecs.gn7i-c8g1.2xlarg" in home.run("up", "--config", config, code=1).stderr
