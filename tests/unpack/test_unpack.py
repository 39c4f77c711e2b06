"""What honest archives become: layers in the store, as overlayfs wants them."""
import bz2
import gzip
import json
import lzma
import os
import stat
import subprocess
import tarfile
import time

from archives import config, docker_archive, folder, member, oci_files, sha256, tar, write_folder
import pytest

GIB = 1 << 30


def is_whiteout(path):
    status = os.lstat(path)
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def test_docker_archive_with_its_configuration(store):
    layer = tar([member("a", data=b"1")])
    image = docker_archive([layer], tags=("r.io/a:1", "r.io/a:2"), Entrypoint=["/a"], Cmd=["b"], User="7:8",
                           Env=["A=1", "B=x=y"], WorkingDir="/w", Labels={"k": "v"})
    record = store.unpack(store.write(image))
    assert record["references"] == ["r.io/a:1", "r.io/a:2"]
    assert (record["entrypoint"], record["cmd"], record["user"], record["workingDir"]) == (["/a"], ["b"], "7:8", "/w")
    assert record["env"] == {"A": "1", "B": "x=y"} and record["labels"] == {"k": "v"}
    assert record["configDigest"] == "sha256:" + sha256(config([layer], Entrypoint=["/a"], Cmd=["b"], User="7:8",
                                                               Env=["A=1", "B=x=y"], WorkingDir="/w",
                                                               Labels={"k": "v"}))
    assert record["folders"] == [sha256(layer)]
    assert (record["paths"][0] / "a").read_bytes() == b"1"
    assert store.names() == [sha256(layer)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress, bytes, "zstd"])
def test_oci_layout(store, packed, compress):
    if compress == "zstd":
        def compress(data):
            return subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout
        if subprocess.run(["which", "zstd"], capture_output=True).returncode:
            pytest.skip("no zstd program to pack with")
    layers = [tar([member("a", data=b"1")]), tar([member("b", data=b"2")])]
    files = oci_files(layers, tag="r.io/x:1", compress=compress)
    if packed:
        source = store.write(tar([member(name, data=data) for name, data in files.items()]))
    else:
        source = write_folder(store.folder / "layout", files)
    record = store.unpack(source)
    assert record["references"] == ["r.io/x:1"]
    assert [path.name for path in record["paths"][0].iterdir()] == ["a"]
    assert [path.name for path in record["paths"][1].iterdir()] == ["b"]
    assert record["layers"][0]["diffId"] == "sha256:" + sha256(layers[0])


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_a_packed_docker_archive(store, compress):
    record = store.unpack(store.write(compress(docker_archive([tar([member("a", data=b"1" * 100000)])]))))
    assert (record["paths"][0] / "a").stat().st_size == 100000


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress])
def test_a_plain_root_file_system(store, compress):
    plain = tar([folder("./"), folder("./bin"), member("./bin/sh", data=b"x", mode=0o755)])
    record = store.unpack(store.write(compress(plain)))
    assert record["folders"] == [sha256(plain)] and record["configDigest"] == "sha256:" + sha256(plain)
    assert (record["paths"][0] / "bin/sh").read_bytes() == b"x"


def test_whiteouts_become_overlay_marks(store):
    layer = tar([folder("d"), member("d/.wh.gone"), folder("o"), member("o/.wh..wh..opq"), member("o/new"),
                 member("d/.wh.back"), folder("d/back"), member("d/back/x"),
                 folder("d/kept"), member("d/.wh.kept"),
                 member("d/.wh.file"), member("d/file", data=b"again"),
                 member("d/.wh.deep"), member("d/deep/er/x"), member(".wh..wh.plnk")])
    fs = store.unpack(store.write(docker_archive([layer])))["paths"][0]
    opaque = {name: os.getxattr(fs / name, "trusted.overlay.opaque") for name in ("o", "d/back", "d/kept", "d/deep")}
    assert set(opaque.values()) == {b"y"}
    assert is_whiteout(fs / "d/gone")
    assert (fs / "d/file").read_bytes() == b"again"
    assert (fs / "d/deep/er/x").exists() and (fs / "o/new").exists()
    assert sorted(os.listdir(fs)) == ["d", "o"]
    assert sorted(os.listdir(fs / "d")) == ["back", "deep", "file", "gone", "kept"]


def test_layers_merge_where_marks_are_impossible(store):
    lower = tar([folder("d", mode=0o750), member("d/gone"), member("d/stays"), folder("o"), member("o/old"),
                 member("link", tarfile.SYMTYPE, linkname="d"), folder("r"), member("r/old")])
    upper = tar([folder("d"), member("d/.wh.gone"), member("o/new"), member("o/.wh..wh..opq"), member("link/x"),
                 member(".wh.r"), folder("r"), member("r/new"), member(".wh.never")])
    record = store.unpack(store.write(docker_archive([lower, upper])), merge=True)
    fs = record["paths"][0]
    assert len(record["folders"]) == 1 and "merged" in record["notes"][-1]
    found = sorted(str(path.relative_to(fs)) for path in fs.rglob("*"))
    assert found == ["d", "d/stays", "link", "link/x", "o", "o/new", "r", "r/new"]
    assert not (fs / "link").is_symlink() and not (fs / "d/x").exists()
    assert store.unpack(store.write(docker_archive([lower, upper])), merge=True)["folders"] == record["folders"]


def test_owners_modes_links_names_and_attributes(store):
    long = "/".join(["n" * 250] * 12)
    layer = tar([
        folder("home", uid=4294967294, gid=65534, mode=0o2711), member("home/f", uid=123456, gid=7, mtime=1000000000),
        member("su", mode=0o4755, data=b"x"), member("hard", tarfile.LNKTYPE, linkname="su"),
        member("soft", tarfile.SYMTYPE, linkname="/absolute/is/fine"), member("up", tarfile.SYMTYPE, linkname="../../x"),
        member("hardsoft", tarfile.LNKTYPE, linkname="soft"), member("pipe", tarfile.FIFOTYPE),
        folder("closed", mode=0o555), member("closed/x"), member("ünï ❄", data=b"u"), member(long + "/x", data=b"deep"),
        member("attributes", pax_headers={"SCHILY.xattr.user.kept": "1", "SCHILY.xattr.trusted.overlay.opaque": "y",
                                          "SCHILY.xattr.security.selinux": "z"}),
        member("twice", data=b"first"), member("twice", data=b"second"),
    ])
    record = store.unpack(store.write(docker_archive([layer])))
    fs = record["paths"][0]
    home, file, su = os.stat(fs / "home"), os.stat(fs / "home/f"), os.stat(fs / "su")
    assert (home.st_uid, home.st_gid, home.st_mode & 0o7777) == (4294967294, 65534, 0o2711)
    assert (file.st_uid, file.st_gid, file.st_mtime) == (123456, 7, 1000000000)
    assert su.st_mode & 0o7777 == 0o4755 and su.st_nlink == 2 and os.stat(fs / "hard").st_ino == su.st_ino
    assert os.readlink(fs / "soft") == os.readlink(fs / "hardsoft") == "/absolute/is/fine"
    assert os.readlink(fs / "up") == "../../x"
    assert stat.S_ISFIFO(os.stat(fs / "pipe").st_mode) and os.stat(fs / "closed").st_mode & 0o777 == 0o555
    assert (fs / "ünï ❄").read_bytes() == b"u" and (fs / long / "x").read_bytes() == b"deep"
    assert os.listxattr(fs / "attributes") == ["user.kept"]
    assert sorted(note.split()[-4] for note in record["notes"]) == ["security.selinux", "trusted.overlay.opaque"]
    assert (fs / "twice").read_bytes() == b"second"


def test_parents_that_a_layer_leaves_unsaid_are_as_below(store):
    layers = [tar([folder("app", uid=1234, gid=5, mode=0o700)]), tar([member("app/new")])]
    status = os.stat(store.unpack(store.write(docker_archive(layers)))["paths"][1] / "app")
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 5, 0o700)


@pytest.mark.parametrize("how", ["gnu", "pax", "zeros"])
def test_a_sparse_file_stays_sparse(store, how):
    """1 GiB that neither takes 1 GiB nor long."""
    big = store.folder / "big"
    with open(big, "wb") as file:
        file.truncate(GIB)
        for at in (0, GIB // 2, GIB - 5):
            file.seek(at)
            file.write(b"data!")
    options = {"gnu": ["--format=gnu", "-S"], "pax": ["--format=posix", "-S"], "zeros": ["--format=pax"]}[how]
    layer = store.folder / "layer.tar"
    subprocess.run(["tar", *options, "-C", store.folder, "-cf", layer, "big"], check=True)
    begin = time.monotonic()
    record = store.unpack(layer)
    took = time.monotonic() - begin
    status = os.stat(record["paths"][0] / "big")
    assert status.st_size == GIB and status.st_blocks * 512 < 1 << 20
    with open(record["paths"][0] / "big", "rb") as file:
        for at in (0, GIB // 2, GIB - 5):
            file.seek(at)
            assert file.read(5) == b"data!"
    assert took < (5 if how != "zeros" else 30)


def test_layers_are_shared_and_not_read_again(store):
    base, one, two = tar([member("base")]), tar([member("one")]), tar([member("two")])
    first = store.unpack(store.write(docker_archive([base, one]), "1.tar"))
    stamp = first["paths"][0].stat().st_ino
    second = store.unpack(store.write(docker_archive([base, two]), "2.tar"))
    assert second["folders"][0] == first["folders"][0] and second["paths"][0].stat().st_ino == stamp
    assert second["layers"][0] == first["layers"][0]
    assert len(store.names()) == 3


def test_a_layer_that_comes_twice_is_mounted_once(store):
    empty, other = tar([member("a")]), tar([member("b")])
    record = store.unpack(store.write(docker_archive([empty, other, empty])))
    assert record["folders"] == [sha256(other), sha256(empty)] and len(record["layers"]) == 3


def test_several_images_need_a_choice(store):
    one, two = tar([member("one")]), tar([member("two")])
    texts = [config([layer]) for layer in (one, two)]
    manifest = [{"Config": sha256(text) + ".json", "RepoTags": [tag], "Layers": [sha256(layer) + "/layer.tar"]}
                for text, tag, layer in zip(texts, ("a:1", "b:1"), (one, two))]
    source = store.write(tar([*(member(sha256(layer) + "/layer.tar", data=layer) for layer in (one, two)),
                              *(member(sha256(text) + ".json", data=text) for text in texts),
                              member("manifest.json", data=json.dumps(manifest).encode())]))
    assert "it holds 2 images: a:1, b:1" in store.refuse(source)
    assert "no image is tagged c:1" in store.refuse(source, select="c:1")
    assert (store.unpack(source, select="b:1")["paths"][0] / "two").exists()


def test_older_archives_link_to_equal_layers(store):
    layer = tar([member("a")])
    text = config([layer, layer])
    names = ["1" * 64 + "/layer.tar", "2" * 64 + "/layer.tar"]
    manifest = [{"Config": sha256(text) + ".json", "RepoTags": None, "Layers": names}]
    record = store.unpack(store.write(tar([
        member(names[0], data=layer), member(names[1], tarfile.SYMTYPE, linkname="../" + names[0]),
        member(sha256(text) + ".json", data=text), member("manifest.json", data=json.dumps(manifest).encode())])))
    assert record["folders"] == [sha256(layer)] and record["references"] == []


def test_the_platform_of_this_host_is_chosen(store):
    layer = tar([member("a")])
    here, there = oci_files([layer], A=1), oci_files([layer], B=1)
    entries = []
    for files, architecture in ((there, "riscv64"), (here, {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine])):
        entry = json.loads(files["index.json"])["manifests"][0]
        entries.append(entry | {"platform": {"os": "linux", "architecture": architecture}})
    attestation = entries[0] | {"platform": {"os": "unknown", "architecture": "unknown"}}
    inner = json.dumps({"manifests": [*entries, attestation]}).encode()
    top = {"manifests": [{"mediaType": "application/vnd.oci.image.index.v1+json", "size": len(inner),
                          "digest": "sha256:" + sha256(inner)}]}
    files = there | here | {"blobs/sha256/" + sha256(inner): inner, "index.json": json.dumps(top).encode()}
    assert store.unpack(write_folder(store.folder / "layout", files))["configDigest"] == "sha256:" + sha256(
        config([layer], A=1))


def test_what_a_killed_run_left_goes(store):
    (store.layers / ".partial/x/fs").mkdir(parents=True)
    record = store.unpack(store.write(docker_archive([tar([member("a")])])))
    assert store.names() == record["folders"]


def test_random_bytes_never_harm(store):
    """Damaged in any place, an archive is unpacked as it was meant, or refused; never half."""
    layer = tar([folder("d"), member("d/a", data=b"1" * 600), member("d/b", data=b"2" * 600)])
    good = docker_archive([layer])
    for at in range(0, len(good), max(1, len(good) // 150)):
        bad = bytearray(good)
        bad[at] ^= 0x41
        said = store.run(store.write(bytes(bad)))[-1]
        if "record" in said:
            assert all((store.layers / name / "layer.json").exists() for name in json.loads(said["record"])["folders"])
        store.untouched()
        assert ".partial" not in store.names()


