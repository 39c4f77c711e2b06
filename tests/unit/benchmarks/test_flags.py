"""The command line: the manifest's flags, mistakes in absl's words, and contradictions."""
import pytest
import yaml

import flags as flags_lib
import settings as settings_lib
from conftest import ROOTFS

MANIFEST = ROOTFS.parents[3] / "benchmarks/tf-benchmarks-gpu.yaml"
CLUSTER = ["--ps_hosts=p:1", "--worker_hosts=a:1,b:1"]


def resolve(*words):
    return settings_lib.resolve(flags_lib.parse(words))


@pytest.mark.parametrize("kind", ["PS", "Worker"])
def test_the_manifests_flags(kind):
    spec = yaml.safe_load(MANIFEST.read_text())["spec"]["tfReplicaSpecs"][kind]
    words = spec["template"]["spec"]["containers"][0]["args"][2:]
    found = resolve(*words, f"--job_name={kind.lower()}", *CLUSTER, "--task_index=0")
    assert (found.batch, found.workers, found.warmup, found.synchronous) == (128, 2, 10, True)
    assert flags_lib.without_effect(found.flags) == []


def test_forms_of_a_flag():
    found = flags_lib.parse(["--num_batches", "7", "-model=lenet", "--nocross_replica_sync", "--allow_growth",
                             "--gpu_memory_frac_for_testing=0.5"])
    assert (found.num_batches, found.model, found.cross_replica_sync, found.allow_growth) == (7, "lenet", False, True)
    assert found.gpu_memory_frac_for_testing == 0.5


@pytest.mark.parametrize("word, message", [
    ("--batchsize=3", "Unknown command line flag 'batchsize'. Did you mean: batch_size ?"),
    ("--zzz", "Unknown command line flag 'zzz'."),
    ("--batch_size=x", "flag --batch_size=x: "),
    ("--device=cpo", "flag --device=cpo: value should be one of <cpu|gpu|CPU|GPU>"),
    ("--cross_replica_sync=maybe", "flag --cross_replica_sync=maybe: "),
    ("--model", "Missing value for flag --model"),
    ("trivial", "positional"),
])
def test_mistakes(word, message):
    with pytest.raises(flags_lib.FlagError) as error:
        flags_lib.parse([word])
    assert message in str(error.value)


@pytest.mark.parametrize("words, message", [
    (["--device=cpu", "--data_format=NCHW"], "device=cpu requires that data_format=NHWC"),
    (["--model=resnet5"], "Invalid model name 'resnet5' for dataset 'imagenet'; did you mean resnet50?"),
    (["--variable_update=horovod"], "variable_update=horovod is not in this program"),
    (["--variable_update=replicated", "--job_name=worker", *CLUSTER], "Invalid variable_update in distributed mode"),
    (["--variable_update=distributed_replicated"], "Invalid variable_update in local mode"),
    (["--job_name=worker"], "job_name needs both"),
    (["--job_name=worker", *CLUSTER, "--task_index=2"], "task_index=2, but worker_hosts has 2 addresses"),
    (["--num_batches=0"], "num_batches value of 0 is lower than the lower bound of 1"),
    (["--data_dir=/data"], "made-up pictures"),
])
def test_contradictions(words, message):
    with pytest.raises(ValueError) as error:
        resolve(*words)
    assert message in str(error.value)


def test_flags_without_effect_are_named():
    assert flags_lib.without_effect(flags_lib.parse(["--xla", "--flush_stdout=true"])) == ["xla"]
    assert "--batch_size" in flags_lib.help_text()
