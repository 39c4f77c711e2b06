"""StatefulSets, DaemonSets and CronJobs as real processes."""

VOLUME = """apiVersion: v1
kind: PersistentVolume
metadata: {name: %(name)s}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: hand
  hostPath: {path: %(folder)s, type: DirectoryOrCreate}
---
"""

STATEFUL_SET = """apiVersion: v1
kind: Service
metadata: {name: web}
spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  serviceName: web
  replicas: 2
  selector: {matchLabels: {app: web}}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], storageClassName: hand, resources: {requests: {storage: 1Gi}}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: busybox:1
        command: [sh, -c, "echo $(hostname) was here >> /data/visits; exec sleep 600"]
        volumeMounts: [{name: data, mountPath: /data}]
"""

DAEMON_SET = """apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: "busybox:1", command: [sleep, "600"]}]
"""

CRON_JOB = """apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "@every 2s"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: "busybox:1", command: [echo, tick]}]
"""


def test_a_stateful_set_keeps_names_and_data(cluster):
    folders = [cluster.home / f"volume-{n}" for n in range(2)]
    for folder in folders:
        cluster.apply(VOLUME % {"name": folder.name, "folder": folder})
    cluster.apply(STATEFUL_SET)
    cluster.until_phase("web-1", "Running")
    address = cluster.jsonpath("{.status.podIP}", "pod", "web-1")
    cluster.until(lambda: cluster.run("exec", "web-0", "--", "getent", "hosts", "web-1.web",
                                      code=None).stdout.split()[:1] == [address], "name of web-1")
    cluster.run("scale", "statefulset/web", "--replicas=1")
    cluster.until(lambda: len(cluster.items("pods")) == 1, "one pod")
    cluster.run("scale", "statefulset/web", "--replicas=2")
    cluster.until_phase("web-1", "Running")
    cluster.until(lambda: cluster.run("exec", "web-1", "--", "cat", "/data/visits", code=None).stdout ==
                  "web-1 was here\n" * 2, "data of both lives")
    cluster.run("apply", "-f", cluster.home / "manifest.yaml")
    cluster.run("delete", "statefulset", "web")
    cluster.until(lambda: not cluster.items("pods"), "no pod")
    assert len(cluster.items("pvc")) == 2


def test_a_daemon_set_and_a_cron_job(cluster):
    cluster.apply(DAEMON_SET + "---\n" + CRON_JOB)
    nodes = len(cluster.items("nodes"))
    cluster.until(lambda: cluster.get("daemonset", "agent")["status"].get("numberReady") == nodes, "agents")
    cluster.until(lambda: "lastSuccessfulTime" in cluster.get("cronjob", "tick").get("status", {}), "a Job that ended")
    job = cluster.items("jobs")[0]["metadata"]
    assert job["name"].startswith("tick-")
    assert cluster.run("logs", f"job/{job['name']}").stdout.endswith("tick\n")
    cluster.run("delete", "daemonset/agent", "cronjob/tick")
    cluster.until(lambda: not cluster.items("pods") and not cluster.items("jobs"), "end of what they made")
