"""Pods on roots that are not the host's: archives made by hand, and what the verbs of tfemu image do with them."""
import json
import shutil
import sys
import tarfile

import pytest

from cluster import ROOT, pod, tfjob

sys.path.insert(0, str(ROOT / "tests/support"))
from archives import (BUSYBOX, busybox_layer, docker_archive, folder, member, oci_files, tar,  # noqa: E402
                      write_folder)


@pytest.fixture
def own(home):
    """A cluster whose store of layers is its own."""
    (home.home / "cache").unlink()
    (home.home / "cache").mkdir()
    home.up()
    yield home
    home.down()
    shutil.rmtree(home.home / "cache")
    (home.home / "cache").symlink_to(home.home)  # close() expects a link


GIB = 1 << 30
LONG = "/".join(["long" * 50] * 3)


def two_layers():
    """Whiteouts, an opaque folder, hard links, an odd owner, long names and a sparse file of 1 GiB."""
    lower = busybox_layer([
        folder("app", uid=1234, gid=1235), member("app/old", data=b"old"), member("app/keep", data=b"kept\n"),
        folder("opq"), member("opq/below"), folder(LONG), member(LONG + "/x", data=b"deep\n"),
        member("odd", uid=3000000000, gid=2999999999)])
    sparse, _ = member("app/sparse", pax_headers={
        "GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.name": "app/sparse",
        "GNU.sparse.size": str(GIB), "GNU.sparse.numblocks": "1", "GNU.sparse.map": f"{GIB - 512},512"})
    upper = tar([folder("app", uid=1234, gid=1235), member("app/.wh.old"), folder("opq"), member("opq/.wh..wh..opq"),
                 member("opq/above"), member("app/a", data=b"linked\n"), member("app/b", tarfile.LNKTYPE, linkname="app/a"),
                 member("bin/main", mode=0o755, data=b"#!/bin/sh\necho $GREETING $*; id; pwd; echo home $HOME\n"),
                 (sparse, b"s" * 512)])
    settings = {"Entrypoint": ["main"], "Cmd": ["from", "cmd"], "User": "app", "WorkingDir": "/app",
                "Env": ["PATH=/bin", "GREETING=hello"]}
    return [lower, upper], settings


def end_of(cluster, name):
    cluster.until(lambda: cluster.get("pod", name)["status"].get("phase") in ("Failed", "Succeeded"), "end")
    return cluster.run("logs", name).stdout


def image_pod(name, image, extra=""):
    return pod(name, "", extra).replace("busybox:1", image).replace('    command: [sh, -c, ""]\n', "")


@pytest.mark.parametrize("kind", ["docker", "oci", "oci folder"])
def test_an_archive_runs(own, kind):
    layers, settings = two_layers()
    source = own.home / "made-image.tar"
    if kind == "docker":
        source.write_bytes(docker_archive(layers, tags=["made/image:1"], **settings))
    else:
        files = oci_files(layers, tag="made/image:1", **settings)
        if kind == "oci":
            source.write_bytes(tar([member(name, data=data) for name, data in files.items()]))
        else:
            source = write_folder(own.home / "made-image", files)
    added = own.run("image", "add", source)
    assert added.stdout == "made-image answers to made/image:1\n"
    shown = json.loads(own.run("image", "inspect", "made/image:1", "-o", "json").stdout)
    assert shown["config"]["entrypoint"] == ["main"] and shown["config"]["user"] == "app"
    assert shown["ready"] and len(shown["layers"]) == 2
    checked = own.run("image", "check", "made/image:1", source)
    assert "2 layers" in checked.stdout and "runs main from cmd as app" in checked.stdout

    own.apply(image_pod("p", "made/image:1"))
    assert end_of(own, "p") == ("hello from cmd\nuid=1234(app) gid=1235(app) groups=77(extra)\n/app\n"
                                "home /srv/app\n")
    status = own.get("pod", "p")["status"]["containerStatuses"][0]
    assert status["imageID"] == shown["id"] and status["state"]["terminated"]["exitCode"] == 0

    script = ("cat keep; test -e old || echo gone; ls /opq; cat b; stat -c %h a b; stat -c %u:%g /odd; "
              f"cat /{LONG}/x; stat -c %s sparse; du -m sparse")
    own.apply(tfjob("job", script, image="made/image:1"))
    own.run("wait", "--for=condition=Succeeded", "tfjob/job", "--timeout=30s")
    out = own.run("logs", "job-worker-0").stdout
    assert out.startswith(f"kept\ngone\nabove\nlinked\n2\n2\n3000000000:2999999999\ndeep\n{GIB}\n0"), out


def test_the_root_is_shared_and_writable_and_goes_with_the_pod(own):
    layers, settings = two_layers()
    (own.home / "i.tar").write_bytes(docker_archive(layers, tags=["made/image:1"], **settings))
    own.run("image", "add", own.home / "i.tar")
    script = ("touch /written && ls /written; cat /etc/hostname; grep -c . /etc/resolv.conf; ls /dev; "
              "touch /sys/x 2>/dev/null || echo sys read-only; echo x > /dev/null && test -d /proc/self && echo kernel; "
              "cat /vol/f; mount | grep -c overlay; test -e /sys/class && sleep 600")
    manifest = pod("p", script, "volumeMounts: [{name: v, mountPath: /vol}]",
                   "volumes: [{name: v, hostPath: {path: %s}}]" % (own.home / "vol")).replace("busybox:1", "made/image:1")
    own.write("vol/f", "volume\n")
    own.apply(manifest + "---\n" + manifest.replace("name: p\n", "name: q\n"))
    for name in "pq":
        own.until_phase(name, "Running")
        own.until(lambda: "kernel" in own.run("logs", name).stdout, "output")
    out = own.run("logs", "p").stdout
    # The image's user is no root: the root folder is not its to write.
    assert "/written: Permission denied" in out
    assert "p\n3\ncore\nfd\n" in out and "sys read-only\nkernel\nvolume\n1\n" in out
    done = own.run("exec", "p", "--", "sh", "-c", "id -u; echo $HOME; pwd; echo mine > /tmp/x; cat /tmp/x")
    assert done.stdout == "1234\n/srv/app\n/app\nmine\n"
    own.run("exec", "q", "--", "cat", "/tmp/x", code=1)
    layers_folder = own.home / "cache/layers"
    assert not list(layers_folder.glob("*/fs/tmp/x"))

    # What a pod runs on stays, even when its image has gone.
    removed = own.run("image", "rm", "i")
    assert "2 kept because pods run on them" in removed.stderr
    assert own.run("exec", "p", "--", "cat", "/app/keep").stdout == "kept\n"
    own.run("delete", "pod", "p", "q")
    own.until(lambda: not own.items("pods"), "no pod")
    assert "2 layers" in own.run("image", "prune", "--dry-run").stdout
    assert own.run("image", "prune").stdout.startswith("2 layers")
    assert [entry.name for entry in layers_folder.iterdir()] == [".lock"]


def test_image_yaml_wins_over_the_archive(own):
    layers, settings = two_layers()
    own.write("images/mine/extra/app/new", "from a layer\n")
    (own.home / "images/mine/i.tar").write_bytes(docker_archive(layers, **settings))
    own.write("images/mine/image.yaml", "references: [mine]\nroot: i.tar\nlayers: [extra]\nenv: {GREETING: salut}\n"
              "cmd: [our, cmd]\nuser: '0'\nworkingDir: /\n")
    own.apply(image_pod("p", "mine"))
    assert end_of(own, "p") == "salut our cmd\nuid=0(root) gid=0(root)\n/\nhome /root\n"
    own.apply(pod("q", "cat /app/new /app/keep").replace("busybox:1", "mine"))
    assert end_of(own, "q") == "from a layer\nkept\n"


def test_plain_roots(own):
    with open(own.home / "root.tar", "wb") as file:
        file.write(busybox_layer())
    own.run("image", "add", own.home / "root.tar", "--reference", "plain/tar:*", "--copy")
    (own.home / "root.tar").rename(own.home / "elsewhere.tar")
    (own.home / "rootfs/bin").mkdir(parents=True)
    shutil.copy(BUSYBOX, own.home / "rootfs/bin/sh")
    own.run("image", "add", own.home / "rootfs", "--reference", "plain/folder")
    for name, image in (("p", "plain/tar:1"), ("q", "plain/folder")):
        own.apply(pod(name, "echo ran in $(pwd)").replace("busybox:1", image))
        assert end_of(own, name) == "ran in /\n"
    listed = own.run("image", "ls").stdout
    assert "plain/tar:*" in listed and " tar " in listed and " folder " in listed
    own.run("image", "rm", "root")
    assert not (own.home / "images/root").exists()


def test_many_layers(own):
    """More than fit into one page of mount options by their paths."""
    layers = [busybox_layer()] + [tar([member(f"n/{n}", data=b"1")]) for n in range(150)]
    (own.home / "many.tar").write_bytes(docker_archive(layers, tags=["many:1"]))
    own.run("image", "add", own.home / "many.tar")
    own.apply(pod("p", "ls /n | wc -l").replace("busybox:1", "many:1"))
    assert end_of(own, "p") == "150\n"


def test_what_cannot_run_is_foreseen(own):
    with open(BUSYBOX, "rb") as file:
        foreign = bytearray(file.read())
    foreign[18:20] = (243).to_bytes(2, "little")
    extra = [member("bin/foreign", data=bytes(foreign), mode=0o755), member("bin/plain", data=b"echo\n", mode=0o755),
             member("bin/nobody", data=b"#!/bin/python9\n", mode=0o755), member("bin/locked", data=b"#!/bin/sh\n")]
    layer = busybox_layer(extra)
    for program, words in (("foreign", "exec format error: it is for riscv"), ("plain", "exec format error"),
                           ("nobody", "interpreter /bin/python9 is not in the image"),
                           ("locked", "permission denied"), ("none", "executable file not found in $PATH")):
        source = own.home / f"{program}.tar"
        source.write_bytes(docker_archive([layer], Cmd=[program]))
        done = own.run("image", "check", source, code=1)
        assert words in done.stderr, done.stderr
    source.write_bytes(docker_archive([layer], Cmd=["sh"], User="nobody-here"))
    assert "unable to find user nobody-here" in own.run("image", "check", source, code=1).stderr
    own.run("image", "add", source, "--reference", "bad/user")
    own.apply(image_pod("p", "bad/user"))
    assert end_of(own, "p") == ""
    state = own.get("pod", "p")["status"]["containerStatuses"][0]["state"]["terminated"]
    assert state["reason"] == "StartError" and "unable to find user nobody-here" in state["message"]
    assert list((own.home / "cache").glob("check-*")) == []


def test_a_bad_archive_is_told_and_leaves_nothing(own):
    bad = docker_archive([busybox_layer(), tar([member("../../x")])], tags=["bad:1"])
    (own.home / "bad.tar").write_bytes(bad)
    done = own.run("image", "add", own.home / "bad.tar", code=1)
    assert 'layer 2 of 2' in done.stderr and '"../../x" leads out of the image' in done.stderr
    assert not (own.home / "images/bad").exists()
    own.write("images/bad/image.yaml", f"references: ['bad:1']\nroot: {own.home}/bad.tar\n")
    own.apply(image_pod("p", "bad:1"))
    own.until(lambda: "leads out of the image" in own.run("events").stdout, "event")
    assert own.run("image", "prepare", "bad:1", code=1).stderr.count("leads out") == 1
    # A better archive in its place is taken up.
    (own.home / "bad.tar").write_bytes(docker_archive([busybox_layer()], Cmd=["echo", "better"]))
    own.run("delete", "pod", "p")
    own.apply(image_pod("r", "bad:1"))
    assert end_of(own, "r") == "better\n"


def test_wrong_use_is_explained(own):
    for words, code, message in [
        (("add", "/nowhere"), 1, "No such file"),
        (("add", own.home / "images/host", "--copy"), 2, "are for archives"),
        (("add", own.home / "run"), 1, "has no image.yaml, no oci-layout"),
        (("rm", "hots"), 1, "no image folder"),
        (("rm", "host"), 1, "image add has not made"),
        (("rm", "../x"), 2, "not the name"),
        (("inspect", "busybox:1", "-o", "xml"), 2, "unknown output form"),
    ]:
        assert message in own.run("image", *words, code=code).stderr, words
    assert own.run("image", "inspect", "busybox:1", "-o", "jsonpath={.root}").stdout == "host"


def test_two_at_once_unpack_once(own):
    """Whoever comes second waits, and finds it done."""
    layer = busybox_layer([member(f"f/{n}", data=b"x" * 3000) for n in range(2000)])
    (own.home / "i.tar").write_bytes(docker_archive([layer]))
    own.write("images/one/image.yaml", f"references: [one]\nroot: {own.home}/i.tar\n")
    own.write("images/two/image.yaml", f"references: [two]\nroot: {own.home}/i.tar\nenv: {{A: b}}\n")
    running = [own.start("image", "prepare", "one"), own.start("image", "prepare", "two"),
               own.start("image", "add", own.home / "i.tar", "--reference", "three")]
    for process in running:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, out + err
    assert len(list((own.home / "cache/layers").glob("*/fs"))) == 1
    assert len(list((own.home / "cache/roots").glob("*.json"))) == 1


def test_an_interrupted_unpack_leaves_nothing_that_counts(own):
    layer = busybox_layer([member(f"f/{n}", data=b"x" * 3000) for n in range(20000)])
    (own.home / "i.tar").write_bytes(docker_archive([layer], tags=["i:1"]))
    process = own.start("image", "add", own.home / "i.tar")
    partial = own.home / "cache/layers/.partial"
    own.until(lambda: process.poll() is not None or list(partial.glob("*/fs/f")), "beginning")
    process.send_signal(2)
    process.communicate(timeout=30)
    assert process.returncode != 0 and not (own.home / "images/i").exists()
    assert not list((own.home / "cache/layers").glob("[!.]*"))
    assert own.run("image", "add", own.home / "i.tar").stdout.startswith("i answers to i:1")
    assert not partial.exists()
