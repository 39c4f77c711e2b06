"""Volumes: drivers, classes, quotas, limits, sub paths, owners."""
import os
import socket

import pytest

from cluster import Cluster, pod


@pytest.fixture(scope="module")
def shared():
    """One cluster for all: each test has names of its own."""
    with Cluster("volumes") as made:
        folder = made.home / "nas-limited"
        config = made.write("cluster.yaml", f"""apiVersion: tfemu.dev/v1alpha1
kind: Cluster
nodes:
- {{name: node-1}}
- {{name: node-2}}
nas:
  limited.nas: {{folder: {folder}, quota: 8Mi}}
  plain.nas: {made.home}/nas-plain
oss:
  mapped: {made.home}/bucket
""")
        made.up("--config", config)
        yield made


def mounts(*triples):
    return "volumeMounts:\n" + "\n".join(f"- {{name: {name}, mountPath: {path}{rest}}}" for name, path, rest in triples)


def claim(name, storage_class, modes="[ReadWriteMany]", size="5Mi", extra=""):
    return f"""apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: {name}}}
spec:
  storageClassName: {storage_class}
  accessModes: {modes}
  resources: {{requests: {{storage: {size}}}}}
  {extra}
---
"""


def volume(name, source, modes="[ReadWriteMany]", extra=""):
    return f"""apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}}}
spec:
  storageClassName: {name}
  accessModes: {modes}
  capacity: {{storage: 5Mi}}
  {source}
  {extra}
---
"""


def events(cluster, kind, name):
    found = cluster.items("events", "-A")
    return [(e["reason"], e["message"]) for e in found
            if (e["involvedObject"]["kind"], e["involvedObject"]["name"]) == (kind, name)]


def has_event(cluster, kind, name, reason, text=""):
    return any(r == reason and text in m for r, m in events(cluster, kind, name))


def state_of(cluster):
    return next((cluster.home / "clusters").glob("*")) if (cluster.home / "clusters").exists() else None


def test_every_driver_is_a_folder(shared):
    """CSI and flexVolume of NAS and OSS, nfs: what one writes, another reads under the same server or bucket."""
    shared.apply(
        volume("csi-nas", "csi: {driver: nasplugin.csi.alibabacloud.com, volumeHandle: csi-nas, volumeAttributes: "
                          '{server: plain.nas, path: /data, vers: "3"}}') + claim("csi-nas", "csi-nas") +
        volume("csi-oss", "csi: {driver: ossplugin.csi.alibabacloud.com, volumeHandle: csi-oss, volumeAttributes: "
                          '{bucket: mapped, url: oss-cn-beijing.aliyuncs.com, path: /models, otherOpts: "-o allow_other"}}')
        + claim("csi-oss", "csi-oss") +
        pod("drivers", "echo nas > /nas/a && echo oss > /oss/b && cat /nfs/a /flex/b && sleep 600",
            mounts(("nas", "/nas", ""), ("oss", "/oss", ""), ("nfs", "/nfs", ""), ("flex", "/flex", "")),
            """volumes:
- {name: nas, persistentVolumeClaim: {claimName: csi-nas}}
- {name: oss, persistentVolumeClaim: {claimName: csi-oss}}
- {name: nfs, nfs: {server: plain.nas, path: /data}}
- {name: flex, flexVolume: {driver: alicloud/oss, options: {bucket: mapped, url: u, path: /models, otherOpts: "-o ro"}}}"""))
    shared.until_phase("drivers", "Running")
    shared.until(lambda: shared.run("logs", "drivers").stdout == "nas\noss\n", "both files")
    assert (shared.home / "bucket/models/b").read_text() == "oss\n"
    done = shared.run("exec", "drivers", "--", "touch", "/flex/x", code=None)
    assert "Read-only file system" in done.stderr


@pytest.mark.parametrize("source, words", [
    ("csi: {driver: nasplugn.csi.alibabacloud.com, volumeHandle: x}",
     'did you mean "nasplugin.csi.alibabacloud.com"?'),
    ("csi: {driver: diskplugin.csi.alibabacloud.com, volumeHandle: x}", "cloud disks are not provided"),
    ("csi: {driver: ossplugin.csi.alibabacloud.com, volumeHandle: x, volumeAttributes: {url: u}}",
     "spec.csi.volumeAttributes.bucket: Required value"),
    ("flexVolume: {driver: alicloud/nas, options: {path: /x}}", "spec.flexVolume.options.server: Required value"),
    ("flexVolume: {driver: alicloud/nsa, options: {server: s}}", 'did you mean "alicloud/nas"?'),
    ("local: {path: /tmp}", "Local volume requires node affinity"),
    ("hostPath: {path: /a/../b}", "must not contain '..'"),
])
def test_bad_sources_are_refused(shared, source, words):
    done = shared.apply(volume("bad", source), 1)
    assert words in done.stderr + done.stdout


def test_host_path_types(shared):
    folder = shared.home / "host"
    folder.mkdir()
    (folder / "file").write_text("f")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(folder / "sock"))
    good = {"File": "file", "FileOrCreate": "new", "DirectoryOrCreate": "newdir", "Directory": ".", "Socket": "sock"}
    spec = "volumes:\n" + "\n".join(
        f"- {{name: v{i}, hostPath: {{path: {folder}/{path}, type: {kind}}}}}" for i, (kind, path) in enumerate(good.items()))
    spec += "\n- {name: dev, hostPath: {path: /dev/null, type: CharDevice}}"
    shared.apply(pod("types", "test -f /v1 && test -d /v2 && test -S /v4 && cat /v0", mounts(
        *((f"v{i}", f"/v{i}", "") for i in range(len(good))), ("dev", "/devnull", "")), spec))
    shared.until_phase("types", "Succeeded")
    shared.apply(pod("wrong", "true", mounts(("v", "/v", "")),
                     f"volumes: [{{name: v, hostPath: {{path: {folder}/file, type: Directory}}}}]"))
    shared.until(lambda: has_event(shared, "Pod", "wrong", "FailedMount",
                                   f"hostPath type check failed: {folder}/file is not a directory"), "kubelet's words")
    (folder / "file").unlink()
    (folder / "file").mkdir()
    shared.until_phase("wrong", "Succeeded")


CLASS = """apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: %s}
provisioner: %s
%s
---
"""


def test_a_class_makes_and_removes_folders(shared):
    parameters = 'parameters: {server: "plain.nas:/pool", volumeAs: subpath, archiveOnDelete: "%s"}\nreclaimPolicy: Delete'
    shared.apply(CLASS % ("made", "nasplugin.csi.alibabacloud.com", parameters % "true") + claim("made", "made") +
                 pod("maker", "echo kept > /v/file", mounts(("v", "/v", "")),
                     "volumes: [{name: v, persistentVolumeClaim: {claimName: made}}]"))
    shared.until_phase("maker", "Succeeded")
    name = shared.jsonpath("{.spec.volumeName}", "pvc", "made")
    assert name.startswith("pvc-")
    for reason in ("ExternalProvisioning", "Provisioning", "ProvisioningSucceeded"):
        assert has_event(shared, "PersistentVolumeClaim", "made", reason), reason
    folder = shared.home / "nas-plain/pool" / name
    assert (folder / "file").read_text() == "kept\n"
    assert "Immediate" in shared.run("get", "sc").stdout
    shared.run("delete", "pod", "maker")
    shared.run("delete", "pvc", "made")
    shared.until(lambda: name not in shared.run("get", "pv", code=None).stdout, "end of the volume")
    shared.until(lambda: not folder.exists(), "end of the folder")
    kept = list((shared.home / "nas-plain/pool").glob(f"archived-{name}.*"))
    assert [(each / "file").read_text() for each in kept] == ["kept\n"]


def test_retain_and_a_hand_made_volume_with_delete_keep_the_data(shared):
    source = "flexVolume: {driver: alicloud/nas, options: {server: plain.nas, path: /%s}}"
    for name, policy, phase in (("kept", "Retain", "Released"), ("mine", "Delete", "Failed")):
        (shared.home / "nas-plain" / name).mkdir(parents=True)
        (shared.home / "nas-plain" / name / "data").write_text("precious")
        shared.apply(volume(name, source % name, extra=f"persistentVolumeReclaimPolicy: {policy}") + claim(name, name))
        shared.until(lambda n=name: shared.jsonpath("{.status.phase}", "pvc", n) == "Bound", "claim")
        shared.run("delete", "pvc", name)
        shared.until(lambda n=name, p=phase: shared.jsonpath("{.status.phase}", "pv", n) == p, phase)
        assert (shared.home / "nas-plain" / name / "data").read_text() == "precious"
    assert has_event(shared, "PersistentVolume", "mine", "VolumeFailedDelete", "no deletable volume plugin matched")


def test_wait_for_first_consumer_and_local_path(shared):
    shared.apply(CLASS % ("local-path", "rancher.io/local-path",
                          "volumeBindingMode: WaitForFirstConsumer\nreclaimPolicy: Delete") +
                 claim("wffc", "local-path", "[ReadWriteOnce]"))
    shared.until(lambda: has_event(shared, "PersistentVolumeClaim", "wffc", "WaitForFirstConsumer",
                                   "waiting for first consumer to be created before binding"), "event")
    shared.apply(pod("first", "echo x > /v/x; sleep 600", mounts(("v", "/v", "")),
                     "nodeSelector: {kubernetes.io/hostname: node-2}\n"
                     "volumes: [{name: v, persistentVolumeClaim: {claimName: wffc}}]"))
    shared.until_phase("first", "Running")
    document = shared.get("pvc", "wffc")
    assert document["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == "node-2"
    path = shared.get("pv", document["spec"]["volumeName"])["spec"]["hostPath"]["path"]
    shared.until(lambda: os.path.exists(path + "/x"), "the file")
    shared.apply(pod("elsewhere", "true", mounts(("v", "/v", "")),
                     "nodeSelector: {kubernetes.io/hostname: node-1}\n"
                     "volumes: [{name: v, persistentVolumeClaim: {claimName: wffc}}]"))
    shared.until(lambda: has_event(shared, "Pod", "elsewhere", "FailedScheduling",
                                   "1 node(s) had volume node affinity conflict"), "conflict")
    shared.run("delete", "pod", "first", "elsewhere")
    shared.run("delete", "pvc", "wffc")
    shared.until(lambda: not os.path.exists(path), "end of the folder")


def test_a_claim_of_no_class_or_an_unknown_one_says_why(shared):
    shared.apply(claim("lost", "nowhere") + CLASS % ("buckets", "ossplugin.csi.alibabacloud.com", "") +
                 claim("bucket", "buckets"))
    shared.until(lambda: has_event(shared, "PersistentVolumeClaim", "lost", "ProvisioningFailed",
                                   'storageclass.storage.k8s.io "nowhere" not found'), "event")
    shared.until(lambda: has_event(shared, "PersistentVolumeClaim", "bucket", "ProvisioningFailed", "makes none"), "event")


def test_a_quota_ends_writes_and_is_told(shared):
    writer = "head -c 20000000 /dev/zero > /v/big; echo code $?; sleep 600"
    shared.apply(pod("greedy", writer, mounts(("v", "/v", "")),
                     "volumes: [{name: v, nfs: {server: limited.nas, path: /}}]"))
    shared.until(lambda: "code 1" in shared.run("logs", "greedy", code=None).stdout, "failed write")
    assert "No space left on device" in shared.run("logs", "greedy").stdout
    shared.until(lambda: has_event(shared, "Pod", "greedy", "VolumeQuotaReached", "ENOSPC"), "event")


def test_a_class_with_quotas_shows_use_and_grows(shared):
    shared.apply(CLASS % ("capped", "nasplugin.csi.alibabacloud.com",
                          'parameters: {server: "plain.nas:/capped", volumeCapacity: "true", archiveOnDelete: "false"}\n'
                          "allowVolumeExpansion: true") + claim("capped", "capped", size="4Mi") +
                 pod("fill", "head -c 9000000 /dev/zero > /v/big; sleep 600", mounts(("v", "/v", "")),
                     "volumes: [{name: v, persistentVolumeClaim: {claimName: capped}}]"))
    shared.until_phase("fill", "Running")
    shared.until(lambda: "Mi of 4Mi" in shared.run("describe", "pvc", "capped").stdout, "usage")
    assert "VolumeQuotaReached" in str(events(shared, "Pod", "fill")) or shared.until(
        lambda: has_event(shared, "Pod", "fill", "VolumeQuotaReached"), "event")
    shared.apply(claim("capped", "capped", size="16Mi"))
    shared.until(lambda: shared.jsonpath("{.status.capacity.storage}", "pvc", "capped") == "16Mi", "growth")
    shared.run("delete", "pod", "fill")  # some hosts grow only what is not in use
    shared.apply(pod("more", "rm /v/big; head -c 6000000 /dev/zero > /v/more && echo grown", mounts(("v", "/v", "")),
                     "volumes: [{name: v, persistentVolumeClaim: {claimName: capped}}]"))
    shared.until_phase("more", "Succeeded")
    done = shared.apply(claim("capped", "capped", size="1Mi"), 1)
    assert "field can not be less than status.capacity" in done.stdout + done.stderr


def test_an_empty_dir_past_its_limit_evicts(shared):
    shared.apply(pod("fat", "head -c 5000000 /dev/zero > /v/big; sleep 600", mounts(("v", "/v", "")),
                     "volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}]"))
    shared.until_phase("fat", "Failed")
    status = shared.get("pod", "fat")["status"]
    assert status["reason"] == "Evicted"
    assert status["message"] == 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". '
    assert has_event(shared, "Pod", "fat", "Evicted")


def test_sub_paths(shared):
    folder = shared.home / "nas-plain/subs"
    folder.mkdir(parents=True)
    (folder / "file.txt").write_text("one file\n")
    (folder / "escape").symlink_to("/etc")
    nfs = "volumes: [{name: v, nfs: {server: plain.nas, path: /subs}}]"
    shared.apply(pod("subs", "echo mine > /a/out; cat /f",
                     "env: [{name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]\n" +
                     mounts(("v", "/a", ', subPathExpr: "logs/$(POD_NAME)"'), ("v", "/f", ", subPath: file.txt")), nfs))
    shared.until_phase("subs", "Succeeded")
    assert (folder / "logs/subs/out").read_text() == "mine\n"
    assert shared.run("logs", "subs").stdout == "one file\n"
    shared.apply(pod("unset", "true", mounts(("v", "/a", ', subPathExpr: "$(NOPE)"')), nfs))
    shared.until(lambda: shared.jsonpath("{.status.containerStatuses[0].state.waiting.reason}", "pod", "unset") ==
                 "CreateContainerConfigError", "reason")
    shared.apply(pod("out", "ls /a", mounts(("v", "/a", ", subPath: escape")), nfs))
    shared.until(lambda: has_event(shared, "Pod", "out", "Failed", "leads out of the volume"), "refusal")
    done = shared.apply(pod("dots", "true", mounts(("v", "/a", ", subPath: a/../..")), nfs), 1)
    assert "must not contain '..'" in done.stdout + done.stderr


def test_access_modes(shared):
    source = "nfs: {server: plain.nas, path: /modes}"
    shared.apply(volume("rwo", source, "[ReadWriteOnce]") + claim("rwo", "rwo", "[ReadWriteOnce]") +
                 volume("rwop", source, "[ReadWriteOncePod]") + claim("rwop", "rwop", "[ReadWriteOncePod]") +
                 volume("rox", source, "[ReadOnlyMany]") + claim("rox", "rox", "[ReadOnlyMany]"))
    use = "volumes: [{name: v, persistentVolumeClaim: {claimName: %s}}]\nnodeSelector: {kubernetes.io/hostname: %s}"
    for name in ("rwo", "rwop"):
        shared.apply(pod(f"{name}-a", "sleep 600", mounts(("v", "/v", "")), use % (name, "node-1")))
        shared.until_phase(f"{name}-a", "Running")
        shared.apply(pod(f"{name}-b", "true", mounts(("v", "/v", "")), use % (name, "node-2")))
    shared.until(lambda: has_event(shared, "Pod", "rwo-b", "FailedAttachVolume",
                                   'Multi-Attach error for volume "rwo" Volume is already used by pod(s) rwo-a'), "event")
    shared.until(lambda: has_event(shared, "Pod", "rwop-b", "FailedScheduling", "ReadWriteOncePod access mode"), "event")
    shared.run("delete", "pod", "rwo-a", "rwop-a")
    shared.until_phase("rwo-b", "Succeeded")
    shared.until_phase("rwop-b", "Succeeded")
    shared.apply(pod("rox", "touch /v/x", mounts(("v", "/v", "")), use % ("rox", "node-1")))
    shared.until_phase("rox", "Failed")
    assert "Read-only file system" in shared.run("logs", "rox").stdout


def test_owners_and_updates(shared):
    shared.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: live}\ndata: {key: old}\n---\n" +
                 pod("owner", "touch /v/x; stat -c '%g %a' /v /c/key; stat -c %g /v/x; sleep 600",
                     mounts(("v", "/v", ""), ("c", "/c", "")),
                     "securityContext: {fsGroup: 2000}\nvolumes:\n- {name: v, emptyDir: {}}\n"
                     "- {name: c, configMap: {name: live, defaultMode: 0400}}"))
    shared.until_phase("owner", "Running")
    shared.until(lambda: shared.run("logs", "owner").stdout.count("\n") == 3, "output")
    assert shared.run("logs", "owner").stdout == "2000 2777\n2000 440\n2000\n"
    shared.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: live}\ndata: {key: new}\n")
    shared.until(lambda: shared.run("exec", "owner", "--", "cat", "/c/key").stdout == "new", "the new content")


def test_unhonoured_values_are_named(shared):
    done = shared.apply(pod("said", "true", mounts(("v", "/v", ", mountPropagation: HostToContainer")),
                            "volumes: [{name: v, flexVolume: {driver: alicloud/oss, options: "
                            '{bucket: b, url: u, otherOpts: "-o nonempty -o max_stat_cache_size=0"}}}]'))
    text = done.stdout + done.stderr
    assert "HostToContainer is not honoured" in text and "ossfs option nonempty is not honoured" in text
    assert "max_stat_cache_size" not in text
