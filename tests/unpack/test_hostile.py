"""Archives that no honest tool makes: refused with the reason, and nothing is written, inside or outside."""
import gzip
import json
import lzma
import os
import tarfile

from archives import config, docker_archive, folder, member, oci_files, sha256, tar, write_folder
import pytest

LINK, HARD, CHAR, BLOCK = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE


def hostile(outside):
    """Rows of a name, the layer's members, and words of the refusal."""
    secret = outside + "/secret"
    return {
        "dotdot": ([member("../outside/new", data=b"x")], '"../outside/new" leads out of the image'),
        "dotdot inside": ([folder("a"), member("a/../../../outside/new")], "leads out of the image"),
        "absolute": ([member(outside + "/new")], "has an absolute path"),
        "through a link": ([member("a", LINK, linkname=outside), member("a/new")],
                           'would be written through the symbolic link "a"'),
        "through a relative link": ([folder("d"), member("d/a", LINK, linkname="../../../outside"), member("d/a/new")],
                                    'through the symbolic link "d/a"'),
        "through two links": ([member("a", LINK, linkname="b"), member("b", LINK, linkname=outside), member("a/x/y")],
                              'through the symbolic link "a"'),
        "a folder through a link": ([member("a", LINK, linkname=outside), folder("a/b/c")], "through the symbolic link"),
        "a link through a link": ([member("a", LINK, linkname=outside), member("a/l", LINK, linkname="x")],
                                  "through the symbolic link"),
        "through a file": ([member("a"), member("a/b")], 'through the file "a"'),
        "whiteout through a link": ([member("a", LINK, linkname=outside), member("a/.wh.secret")],
                                    "through the symbolic link"),
        "opaque through a link": ([member("a", LINK, linkname=outside), member("a/.wh..wh..opq")],
                                  "through the symbolic link"),
        "whiteout of ..": ([folder("a"), member("a/.wh...")], "is no whiteout of a name"),
        "whiteout of nothing": ([member(".wh.")], "is no whiteout of a name"),
        "hard link absolute": ([member("a", HARD, linkname=secret)], "is a hard link to the absolute path"),
        "hard link out": ([member("a", HARD, linkname="../outside/secret")], "is a hard link out of the image"),
        "hard link through a link": ([member("d", LINK, linkname=outside), member("a", HARD, linkname="d/secret")],
                                     "is a hard link through a symbolic link"),
        "hard link to nothing": ([member("a", HARD, linkname="later"), member("later")], "does not come before it"),
        "hard link to a folder": ([folder("d"), member("a", HARD, linkname="d")], "which is no file"),
        "hard link to itself": ([member("a"), member("a", HARD, linkname="a")], "is a hard link to itself"),
        "device": ([member("sda", BLOCK, devmajor=8)], "is a device node"),
        "memory": ([member("dev/mem", CHAR, devmajor=1, devminor=1)], "is a device node"),
        "raw whiteout": ([member("gone", CHAR)], "is a device node"),
        "root is a link": ([member("./", LINK, linkname=outside)], "replaces the root"),
    }


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("name", hostile(""))
def test_layers_that_reach_out(store, name, merge):
    members, words = hostile(str(store.outside))[name]
    source = store.write(docker_archive([tar([member("first", data=b"1")]), tar([member("honest"), *members])]))
    message = store.refuse(source, merge=merge)
    assert words in message and "layer 2 of 2" in message
    assert words in store.refuse(store.write(tar([folder("bin"), *members]), "plain.tar"), merge=merge)


def test_a_link_may_replace_a_folder_but_leads_nobody_out(store):
    """The folder's mode comes last; it must not be set on what the link points at."""
    layer = tar([folder("d", mode=0o777, uid=5), folder("d/x"), member("d", LINK, linkname=str(store.outside))])
    assert (store.unpack(store.write(docker_archive([layer])))["paths"][0] / "d").is_symlink()
    store.untouched()
    assert os.stat(store.outside).st_uid == 0


def test_whiteouts_cannot_remove_what_is_outside(store):
    lower = tar([member("a", LINK, linkname=str(store.outside))])
    for upper in (tar([member("a/.wh.secret")]), tar([member("a/.wh..wh..opq")]), tar([member(".wh.a")]),
                  tar([folder("a"), member("a/secret")])):
        for merge in (False, True):
            store.unpack(store.write(docker_archive([lower, upper])), merge=merge)
            store.untouched()


def test_bombs(store):
    zeros = gzip.compress(tar([member("zeros", data=b"\0" * (64 << 20))]))
    source = store.write(zeros)
    assert "more than 1048576 bytes | if you trust it" in store.refuse(source, bytes=1 << 20)
    nested = docker_archive([tar([member("zeros", data=b"\0" * (8 << 20))])])
    assert "more than 1048576 bytes" in store.refuse(store.write(lzma.compress(nested)), bytes=1 << 20)
    many = docker_archive([tar([member(f"{layer}{n}") for n in range(300)]) for layer in "ab"])
    assert "more than 500 entries" in store.refuse(store.write(many), entries=500)
    files = oci_files([tar([member("zeros", data=b"\0" * (8 << 20))])])
    assert "more than 1048576 bytes" in store.refuse(write_folder(store.folder / "l", files), bytes=1 << 20)


def test_a_bomb_of_little_size_is_known_by_its_ratio(store):
    """10 MB that unpack to 10 GB; it is given up at 2 GiB, before anything of it takes room."""
    block = gzip.compress(b"\0" * (256 << 20), 9)
    info, _ = member("zeros")
    info.size = 10 << 30
    head = gzip.compress(info.tobuf(tarfile.GNU_FORMAT), 1)
    source = store.write(head + block * 40)
    assert "200 times its size" in store.refuse(source)


@pytest.mark.parametrize("size, words", [
    (b"77777777777\0", "Truncated"),
    (b"\x80" + b"\0" * 3 + b"\x7f" + b"\xff" * 7, ""),
    (b"\xff" * 12, ""),
    (b"not octal!!\0", ""),
])
def test_sizes_that_lie(store, size, words):
    data = bytearray(tar([member("bin/a", data=b"x")]))
    data[124:136] = size
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    assert words in store.refuse(store.write(bytes(data)))
    assert words in store.refuse(store.write(docker_archive([bytes(data)])))


def test_archives_that_end_early(store):
    plain = tar([folder("bin"), member("bin/a", data=b"x" * 5000), member("bin/b", data=b"y" * 5000)])
    whole = docker_archive([plain])
    for source in (plain[:3000], plain[:7000], gzip.compress(plain)[:-20], whole[:3000], gzip.compress(whole)[:-50]):
        message = store.refuse(store.write(source))
        assert "at byte" in message and "not copied to its end" in message, message
    at_a_boundary = plain[:512 + 512 + 5120]
    assert "it ends early: after 6144 bytes and 2 entries" in store.refuse(store.write(at_a_boundary))
    assert "neither a manifest.json" in store.refuse(store.write(whole[:512 + len(plain)]))
    assert "ends early" in store.refuse(store.write(b""))


def test_documents_that_are_wrong(store):
    layer = tar([member("a")])
    name, entry = "c" * 64 + ".json", "1" * 64 + "/layer.tar"
    good = {"Config": "blobs/c", "RepoTags": [], "Layers": [entry]}

    def made(text, manifest):
        manifest = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
        return store.write(tar([member(entry, data=layer), member("blobs/c", data=text),
                                member("manifest.json", data=manifest)]))

    right = config([layer])
    assert store.unpack(made(right, [good]))["folders"] == [sha256(layer)]
    for path in store.layers.iterdir():
        os.system(f"rm -r {path}")
    for text, manifest, words in [
        (right, b"{", "manifest.json: no JSON"),
        (right, b"[]", "manifest.json: no list of images"),
        (right, b'{"a": 1}', "manifest.json: no list of images"),
        (right, [good | {"Config": "../../etc/passwd"}], "Config: no name of a file"),
        (right, [good | {"Config": name}], "is not in the archive"),
        (right, [good | {"Layers": ["../x"]}], "layer 1, ../x, is not in the archive"),
        (right, [good | {"Layers": ["2" * 64 + "/layer.tar"]}], "is not in the archive"),
        (right, [good | {"Layers": []}], "0 layers, and the configuration has 1"),
        (b"not json", [good], "blobs/c: no JSON"),
        (b"[]", [good], "the configuration is no JSON object"),
        (b'"x"', [good], "the configuration is no JSON object"),
        (b"[" * 100000, [good], "blobs/c: no JSON"),
        (config([]), [good | {"Layers": []}], "has no layers"),
        (json.dumps({"rootfs": {"diff_ids": ["../../x"]}}).encode(), [good], "is no sha256 digest"),
        (json.dumps({"rootfs": {"diff_ids": ["sha256:" + "0" * 64]}}).encode(), [good],
         "wrong digest: its tar must be sha256:000000"),
        (json.dumps({"config": 7, "rootfs": 7}).encode(), [good], "the configuration has 0"),
    ]:
        assert words in store.refuse(made(text, manifest)), words
    oversized = made(b" " * (9 << 20), [good])
    assert "is longer than 8 MiB" in store.refuse(oversized)
    assert "neither a manifest.json nor an index.json" in store.refuse(store.write(tar([member(entry, data=layer)])))


def test_a_configuration_under_a_false_name(store):
    layer = tar([member("a")])
    name = "d" * 64 + ".json"
    manifest = [{"Config": name, "RepoTags": [], "Layers": ["1" * 64 + "/layer.tar"]}]
    source = store.write(tar([member("1" * 64 + "/layer.tar", data=layer), member(name, data=config([layer])),
                              member("manifest.json", data=json.dumps(manifest).encode())]))
    assert f"{name}: wrong digest: it must be sha256:{'d' * 64}" in store.refuse(source)


def test_layouts_that_are_wrong(store):
    files = oci_files([tar([member("a", data=b"x" * 3000)])])
    index = json.loads(files["index.json"])
    manifest_name = "blobs/sha256/" + index["manifests"][0]["digest"][7:]
    manifest = json.loads(files[manifest_name])
    layer_name = "blobs/sha256/" + manifest["layers"][0]["digest"][7:]
    config_name = "blobs/sha256/" + manifest["config"]["digest"][7:]
    flipped = bytearray(files[layer_name])
    flipped[len(flipped) // 2] ^= 1
    outside = store.outside / "secret"

    def broken(number, changes, without=()):
        made = {name: data for name, data in (files | changes).items() if name not in without}
        return write_folder(store.folder / f"l{number}", made)

    def descriptor(digest):
        return json.dumps({"manifests": [{"digest": digest}]}).encode()

    for number, (changes, without, words) in enumerate([
        ({layer_name: bytes(flipped)}, (), "wrong digest: it must be sha256:" + layer_name[13:]),
        ({layer_name: files[layer_name] + b"x"}, (), "bytes and has"),
        ({}, (layer_name,), f"layer sha256:{layer_name[13:]} is not in the layout"),
        ({}, (config_name,), "is not in the layout"),
        ({config_name: b"{}"}, (), f"{config_name}: wrong digest"),
        ({manifest_name: b"{}"}, (), f"{manifest_name}: wrong digest"),
        ({}, (manifest_name,), "is not in the layout"),
        ({}, ("index.json",), "neither a manifest.json nor an index.json"),
        ({"index.json": b"nonsense"}, (), "index.json: no JSON"),
        ({"index.json": b"[]"}, (), "no list of manifests"),
        ({"index.json": b'{"manifests": []}'}, (), "none of its images fits"),
        ({"index.json": b'{"manifests": [7]}'}, (), "is no sha256 digest"),
        ({"index.json": descriptor("sha256:../../../outside/secret")}, (), "is no sha256 digest"),
        ({"index.json": descriptor("sha512:" + "0" * 128)}, (), "is no sha256 digest"),
        ({"index.json": descriptor("sha256:" + "0" * 64)}, (), "is not in the layout"),
    ]):
        assert words in store.refuse(broken(number, changes, without)), words
    linked = broken(99, {}, (layer_name,))
    os.symlink(outside, linked / layer_name)
    assert "is not in the layout" in store.refuse(linked)


def test_an_index_in_itself(store):
    """A digest cannot lie in its own preimage, but a chain can be long."""
    inner, files = json.dumps({"manifests": []}).encode(), {}
    for _ in range(10):
        files["blobs/sha256/" + sha256(inner)] = inner
        inner = json.dumps({"manifests": [{"mediaType": "application/vnd.oci.image.index.v1+json",
                                           "digest": "sha256:" + sha256(inner)}]}).encode()
    files |= {"index.json": inner, "oci-layout": b"{}"}
    assert "too deeply" in store.refuse(write_folder(store.folder / "l", files))


def test_things_that_are_no_archive(store):
    for data in (b"hello, world", b"\x7fELF" + b"\0" * 5000, b"PK\3\4" + b"x" * 2000, gzip.compress(b"hello"),
                 os.urandom(5000)):
        store.refuse(store.write(data))
    said = store.run(store.folder / "nowhere")[-1]
    assert "No such file" in said["error"]["message"]


def test_more_layers_than_overlayfs_takes(store):
    layers = [tar([member(f"f{n}")]) for n in range(481)]
    assert "the image has 481 layers" in store.refuse(store.write(docker_archive(layers)))

