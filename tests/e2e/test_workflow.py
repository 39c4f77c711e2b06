"""Jobs, and a pipeline of them: train, validate, serve, predict."""
import re

from cluster import ROOT


def job(name, command, spec="", annotations="{}"):
    return f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, annotations: {annotations}}}
spec:
  {spec}
  template:
    spec:
      restartPolicy: Never
      containers:
      - {{name: c, image: "busybox:1", command: [sh, -c, '{command}']}}
"""


def test_train_validate_serve_predict(home, prepared):
    done = home.run("run", ROOT / "examples/workflow", "--timeout", "4m", timeout=250)
    accuracy = re.search(r"validate-\w+ .*accuracy (0\.\d+) on 10000 images", done.stdout)
    assert accuracy and float(accuracy[1]) > 0.7
    assert re.search(r"predict-\w+ .*\d+ of 100 right", done.stdout)
    order = [done.stderr.index(f"{name} applied") for name in
             ("tfjob.kubeflow.org/train", "job.batch/validate", "deployment.apps/mnist", "job.batch/predict")]
    assert order == sorted(order)
    assert done.stderr.index("job/validate Complete") < done.stderr.index("deployment.apps/mnist applied")


def test_a_failed_step_ends_the_run(home):
    first = home.write("1.yaml", job("first", "exit 3", "backoffLimit: 0"))
    second = home.write("2.yaml", job("second", "echo never", annotations="{tfemu.dev/run-after: job/first}"))
    done = home.run("run", first, second, code=1)
    assert "never" not in done.stdout and "Job has reached the specified backoff limit" in done.stderr


def test_wrong_orders(home):
    for after, message in (("job/nobody", "is not among these manifests"), ("first", "not of the form KIND/NAME"),
                           ("job/a", "wait for each other")):
        path = home.write("a.yaml", job("a", "true", annotations=f"{{tfemu.dev/run-after: {after}}}"))
        done = home.run("run", path, code=2)
        assert message in done.stderr and "a.yaml:4" in done.stderr


def test_an_indexed_job(cluster):
    cluster.apply(job("work", "echo piece $JOB_COMPLETION_INDEX on $(hostname)",
                      "completions: 4\n  parallelism: 2\n  completionMode: Indexed"))
    cluster.run("wait", "--for=condition=Complete", "job/work", "--timeout=30s")
    lines = cluster.run("logs", "job/work").stdout
    assert all(f"piece {i} on work-{i}" in lines for i in range(4))
    assert re.search(r"work +Complete +4/4", cluster.run("get", "jobs").stdout)
    cluster.run("delete", "job", "work")
    cluster.until(lambda: not cluster.items("pods"), "no pods")


def test_a_job_that_fails(cluster):
    cluster.apply(job("bad", "exit 42", "podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [42]}}]}"))
    done = cluster.run("wait", "--for=condition=Complete", "job/bad", "--timeout=30s", code=1)
    assert "bad" in done.stderr
    conditions = {c["type"]: c for c in cluster.get("job", "bad")["status"]["conditions"]}
    assert conditions["Failed"]["reason"] == "PodFailurePolicy"
