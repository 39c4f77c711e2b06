"""Image archives made by hand: layers, docker archives and OCI layouts, honest and hostile."""
import gzip
import hashlib
import io
import json
import tarfile

BUSYBOX = "/bin/busybox"


def member(name, kind=tarfile.REGTYPE, data=b"", **fields):
    """One entry of a tar; `fields` are TarInfo's."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.mode = 0o755 if kind == tarfile.DIRTYPE else 0o644
    info.size = len(data)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, data


def folder(name, **fields):
    return member(name, tarfile.DIRTYPE, **fields)


def tar(members):
    """Bytes of a tar of (info, data) pairs, in pax format; size fields may lie about the data."""
    out = io.BytesIO()
    for info, data in members:
        out.write(info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape"))
        out.write(data + b"\0" * (-len(data) % 512))
    out.write(b"\0" * 1024)
    return out.getvalue()


def busybox_layer(extra=()):
    """A root file system with a shell."""
    with open(BUSYBOX, "rb") as file:
        program = file.read()
    names = "sh cat ls id env echo sleep stat wc test true mount touch grep find readlink hostname mkdir du tr".split()
    links = [member(f"bin/{name}", tarfile.LNKTYPE, linkname="bin/busybox") for name in names]
    etc = [member("etc/passwd", data=b"root:x:0:0:root:/root:/bin/sh\napp:x:1234:1235:an app:/srv/app:/bin/sh\n"),
           member("etc/group", data=b"root:x:0:\napp:x:1235:\nextra:x:77:app,other\n")]
    return tar([folder("./"), folder("bin/"), member("bin/busybox", data=program, mode=0o755), *links,
                folder("etc/"), *etc, folder("tmp/", mode=0o1777), *extra])


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def config(layers, **settings):
    """The configuration's bytes; `settings` are those of its "config" member."""
    return json.dumps({
        "architecture": "amd64", "os": "linux", "config": settings,
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + sha256(layer) for layer in layers]},
    }).encode()


def docker_archive(layers, tags=("made/by-hand:1",), **settings):
    """What docker save writes."""
    text = config(layers, **settings)
    names = [f"{sha256(layer)}/layer.tar" for layer in layers]
    manifest = [{"Config": f"{sha256(text)}.json", "RepoTags": list(tags), "Layers": names}]
    return tar([*(member(name, data=layer) for name, layer in zip(names, layers)),
                member(f"{sha256(text)}.json", data=text),
                member("manifest.json", data=json.dumps(manifest).encode())])


def oci_files(layers, tag="1", compress=gzip.compress, **settings):
    """The files of an OCI layout, by name."""
    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}'}

    def blob(data, kind, **more):
        files["blobs/sha256/" + sha256(data)] = data
        return {"mediaType": kind, "digest": "sha256:" + sha256(data), "size": len(data), **more}

    manifest = {
        "schemaVersion": 2,
        "config": blob(config(layers, **settings), "application/vnd.oci.image.config.v1+json"),
        "layers": [blob(compress(layer), "application/vnd.oci.image.layer.v1.tar+gzip") for layer in layers],
    }
    entry = blob(json.dumps(manifest).encode(), "application/vnd.oci.image.manifest.v1+json",
                 annotations={"org.opencontainers.image.ref.name": tag})
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode()
    return files


def write_folder(path, files):
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path
