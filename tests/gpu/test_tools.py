"""nvidia-smi's output against golden files, PyPI's NVML clients, and a program that links cudart statically.

TFEMU_UPDATE_GOLDEN=1 writes the golden files anew.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["TFEMU_BUILD"])
LAYER = BUILD / "runtime/gpu/virtual-layer"
SHIM = BUILD / "runtime/gpu/shim-layer/opt/tfemu/lib"
SMI = LAYER / "usr/bin/nvidia-smi"
REQUIREMENTS = HERE.parent / "e2e/images/gpu-monitor/requirements.txt"
DEVICES = HERE / "devices.txt"


def smi(*arguments, devices=DEVICES, timeout=20):
    return subprocess.run([SMI, *arguments], capture_output=True, text=True, timeout=timeout,
                          env={"TFEMU_GPU_DEVICES": str(devices), "TZ": "UTC"})


def masked(text):
    text = re.sub(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}", "DATE", text)
    return re.sub(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d{3}", "DATE", text)


QUERY = "timestamp,index,uuid,gpu_name,memory.total,memory.used,memory.free,utilization.gpu,pci.bus_id,fan.speed,power.draw"
GOLDEN = {
    "table": [],
    "list": ["-L"],
    "query": [f"--query-gpu={QUERY}", "--format=csv"],
    "query-plain": ["--query-gpu=index, memory.used", "--format=csv,noheader,nounits"],
    "query-separate": ["--query-gpu", "index,compute_cap,mig.mode.current", "--format", "csv", "-i", "1"],
    "apps": ["--query-compute-apps=pid,process_name,used_memory,gpu_uuid", "--format=csv"],
    "details": ["-q"],
    "details-memory": ["-q", "-d", "MEMORY,UTILIZATION", "-i", "0"],
    "xml": ["-q", "-x"],
    "dmon": ["dmon", "-c", "1"],
    "dmon-all": ["dmon", "-c", "1", "-s", "pucvmet"],
    "pmon": ["pmon", "-c", "1"],
    "topo": ["topo", "-m"],
    "version": ["--version"],
    "help": ["-h"],
}


@pytest.mark.parametrize("name", GOLDEN)
def test_output(name):
    done = smi(*GOLDEN[name])
    assert done.returncode == 0 and done.stderr == ""
    golden = HERE / "golden" / f"{name}.txt"
    if os.environ.get("TFEMU_UPDATE_GOLDEN"):
        golden.write_text(masked(done.stdout))
    assert masked(done.stdout) == golden.read_text()


def test_table_is_rectangular():
    lines = smi().stdout.splitlines()
    assert {len(line) for line in lines[1:]} == {91}
    assert any("emulated by tfemu" in line for line in lines)


def test_xml_is_xml():
    root = xml.etree.ElementTree.fromstring(smi("-q", "-x").stdout)
    assert [gpu.findtext("product_name") for gpu in root.iter("gpu")] == ["NVIDIA A10 (emulated)"] * 2
    assert root.findtext(".//process_info[pid='18']/process_name") == "<a&b>"


@pytest.mark.parametrize("arguments, code, words", [
    (["--query-gpu=index,nonsense", "--format=csv"], 2, 'Field "nonsense" is not a valid field to query.'),
    (["--query-gpu=index"], 2, '"--format=" switch is missing'),
    (["--query-gpu=index", "--format=json"], 2, "Invalid combination of input arguments"),
    (["--query-gpu=", "--format=csv"], 2, 'Field "" is not a valid field'),
    (["--nonsense"], 2, "Invalid combination of input arguments"),
    (["-pl", "100"], 2, "Invalid combination of input arguments"),
    (["--gpu-reset"], 2, "Invalid combination of input arguments"),
    (["-L", "-q"], 2, "Invalid combination of input arguments"),
    (["-l", "nonsense"], 2, "Invalid combination of input arguments"),
    (["-q", "-d", "NONSENSE"], 2, '"NONSENSE"'),
    (["dmon", "-s", "z"], 2, "Invalid combination of input arguments"),
    (["-i"], 2, "Invalid combination of input arguments"),
    (["-i", "9"], 6, "No devices were found"),
    (["-i", "GPU-none", "-L"], 6, "No devices were found"),
])
def test_refused(arguments, code, words):
    done = smi(*arguments)
    assert (done.returncode, words in done.stdout) == (code, True), done.stdout


def test_no_driver_and_no_devices(tmp_path):
    devices = tmp_path / "devices"
    for text in (None, "", "rubbish\n", "tfemu-gpus 1\ngpu\tindex=5\n"):
        if text is not None:
            devices.write_text(text)
        done = smi(devices=devices)
        assert done.returncode == 9 and "couldn't communicate with the NVIDIA driver" in done.stdout, text
    devices.write_text("tfemu-gpus 1\n")
    assert (smi(devices=devices).returncode, smi("-L", devices=devices).stdout) == (6, "No devices were found\n")
    devices.write_text(DEVICES.read_text().replace("links=1:4", "links=1:4\thealth=lost"))
    done = smi(devices=devices)
    assert done.returncode == 15 and "GPU is lost" in done.stdout
    assert smi("-i", "1", devices=devices).returncode == 0


def test_loop_ends_with_its_reader():
    command = f"'{SMI}' --query-gpu=index --format=csv -lms 10 | head -n 5"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=20,
                          env={"TFEMU_GPU_DEVICES": str(DEVICES), "PATH": os.environ["PATH"]})
    assert done.stdout.split() == ["index", "0", "1", "0", "1"]


def test_it_needs_no_library():
    text = subprocess.run(["readelf", "-d", SMI], capture_output=True, text=True).stdout
    if "NEEDED" in text:
        pytest.skip("no static programs with this compiler")


@pytest.fixture(scope="module")
def python():
    """A python with nvidia-ml-py and gpustat; kept in the build folder."""
    venv = BUILD / "tests/gpu/venv"
    made = venv / "made"
    if not made.exists() or made.read_text() != REQUIREMENTS.read_text():
        command = f"'{sys.executable}' -m venv --clear '{venv}' && '{venv}/bin/pip' -q install -r '{REQUIREMENTS}'"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=280)
        if done.returncode:
            pytest.skip("no environment with nvidia-ml-py and gpustat: " + done.stderr.strip()[-200:])
        made.write_text(REQUIREMENTS.read_text())
    return venv / "bin/python"


def run_python(python, *arguments):
    environment = {"TFEMU_GPU_DEVICES": str(DEVICES), "PATH": os.environ["PATH"], "TERM": "dumb",
                   "LD_LIBRARY_PATH": str(LAYER / "usr/lib/x86_64-linux-gnu")}
    return subprocess.run([python, *arguments], capture_output=True, text=True, timeout=60, env=environment)


PYNVML = """
import inspect, json, pynvml as n
n.nvmlInit()
devices = [n.nvmlDeviceGetHandleByIndex(i) for i in range(n.nvmlDeviceGetCount())]
first = devices[0]
out = {"names": [n.nvmlDeviceGetName(d) for d in devices], "driver": n.nvmlSystemGetDriverVersion(),
       "cuda": n.nvmlSystemGetCudaDriverVersion(), "uuid": n.nvmlDeviceGetUUID(first),
       "used": n.nvmlDeviceGetMemoryInfo(first, version=n.nvmlMemory_v2).used,
       "gpu": n.nvmlDeviceGetUtilizationRates(first).gpu, "bus": n.nvmlDeviceGetPciInfo(first).busId,
       "pids": [p.pid for p in n.nvmlDeviceGetComputeRunningProcesses(first)],
       "process": n.nvmlSystemGetProcessName(18), "mig": n.nvmlDeviceGetMigMode(devices[1]),
       "ancestor": n.nvmlDeviceGetTopologyCommonAncestor(devices[0], devices[1])}
# Every question with one device as its only argument is answered, or says that it is not supported.
odd = {}
for name, function in inspect.getmembers(n, inspect.isfunction):
    if not name.startswith("nvmlDeviceGet") or len(inspect.signature(function).parameters) != 1:
        continue
    try:
        function(first)
    except n.NVMLError as error:
        if error.value not in (n.NVML_ERROR_NOT_SUPPORTED, n.NVML_ERROR_INVALID_ARGUMENT, n.NVML_ERROR_NOT_FOUND):
            odd[name] = str(error)
    except (TypeError, AttributeError):
        pass
out["odd"] = odd
n.nvmlShutdown()
print(json.dumps(out))
"""


def test_pynvml(python):
    done = run_python(python, "-c", PYNVML)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert out == {"names": ["NVIDIA A10 (emulated)"] * 2, "driver": "550.54.15", "cuda": 12040,
                   "uuid": "GPU-00000000-7a31-5e21-8000-000000000001", "used": 1610612736, "gpu": 37,
                   "bus": "00000000:00:1E.0", "pids": [17, 18], "process": "<a&b>", "mig": [1, 1], "ancestor": 30,
                   "odd": {}}


def test_gpustat(python):
    done = run_python(python, "-m", "gpustat", "--json")
    assert done.returncode == 0, done.stderr
    gpus = json.loads(done.stdout)["gpus"]
    assert [(gpu["name"], gpu["memory.used"], gpu["memory.total"]) for gpu in gpus] == [
        ("NVIDIA A10 (emulated)", 1536, 23552), ("NVIDIA A10 (emulated)", 0, 23552)]
    assert "NVIDIA A10 (emulated)" in run_python(python, "-m", "gpustat", "--no-color").stdout


def test_without_devices_python_says_no_driver(python, tmp_path):
    environment = {"TFEMU_GPU_DEVICES": str(tmp_path / "none"), "LD_LIBRARY_PATH": str(LAYER / "usr/lib/x86_64-linux-gnu")}
    done = subprocess.run([python, "-c", "import pynvml; pynvml.nvmlInit()"], capture_output=True, text=True,
                          env=environment, timeout=60)
    assert "Driver Not Loaded" in done.stderr


@pytest.mark.parametrize("library", [LAYER / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", SHIM / "libcuda.so.1"],
                         ids=["nvml", "shim"])
def test_libraries_load_in_old_roots(library):
    if not library.exists():
        pytest.skip("the shim is for x86-64 only")
    text = subprocess.run(["objdump", "-T", library], capture_output=True, text=True).stdout
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"GLIBC_([0-9.]+)", text)}
    assert versions and max(versions) <= (2, 17)


@pytest.mark.skipif(not os.path.exists("/dev/nvidiactl"), reason="no NVIDIA GPU: the shim on the true driver")
def test_the_true_driver(tmp_path):
    def allocate(limit):
        environment = {"LD_LIBRARY_PATH": str(SHIM), "TFEMU_GPU_MEMORY_LIMIT": limit,
                       "TFEMU_GPU_ACCOUNTING": str(tmp_path / limit)}
        done = subprocess.run([BUILD / "tests/gpu/needs_cuda", str(100 << 20)], capture_output=True, text=True,
                              timeout=60, env=environment)
        return [int(number) for number in done.stdout.split()]
    assert allocate("0")[:2] == [0, 0]
    assert allocate(str(64 << 20)) == [0, 2, 64 << 20, 64 << 20]


CUDART = r"""
#include <stdio.h>
#include <string.h>
int cudaGetDeviceCount(int*);
int main(void) {
  int count = -1, result = cudaGetDeviceCount(&count);
  char line[4096];
  int shim = 0, fake = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) shim |= strstr(line, "shim-layer") != 0, fake |= strstr(line, "libfakecuda") != 0;
  printf("%d %d %d\n", result, shim, fake);
  return 0;
}
"""


def static_cudart():
    places = [os.environ.get("TFEMU_TEST_CUDART", "")] + [
        os.path.join(root, folder) for root in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", "/usr/lib/cuda", "/usr")
        if root for folder in ("lib64", "lib", "lib/x86_64-linux-gnu", "targets/x86_64-linux/lib")]
    return next((pathlib.Path(place) / "libcudart_static.a" for place in places
                 if place and (pathlib.Path(place) / "libcudart_static.a").exists()), None)


def test_a_program_with_cudart_linked_statically(tmp_path):
    archive = static_cudart()
    if not archive:
        pytest.skip("no libcudart_static.a (CUDA_HOME, /usr/local/cuda)")
    if not SHIM.exists():
        pytest.skip("the shim is for x86-64 only")
    (tmp_path / "main.c").write_text(CUDART)
    subprocess.run(["cc", tmp_path / "main.c", archive, "-o", tmp_path / "main", "-lpthread", "-ldl", "-lrt", "-lm",
                    "-lstdc++"], check=True, timeout=60)
    # The fake driver has not the private tables that the runtime needs, but its answer to cuInit comes out on top.
    environment = {"LD_LIBRARY_PATH": str(SHIM), "FAKE_CUDA_INIT": "214",
                   "TFEMU_CUDA_DRIVER": str(BUILD / "tests/gpu/libfakecuda.so"),
                   "TFEMU_GPU_MEMORY_LIMIT": "1048576", "TFEMU_GPU_ACCOUNTING": str(tmp_path / "share")}
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, timeout=20, env=environment)
    result, shim, fake = done.stdout.split()
    assert (done.returncode, shim, fake) == (0, "1", "1")
    assert result != "35" and result != "0"  # 35: no driver was found
