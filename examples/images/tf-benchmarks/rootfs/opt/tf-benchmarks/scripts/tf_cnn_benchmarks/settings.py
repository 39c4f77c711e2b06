"""What a run is: the flags with their defaults filled in and their contradictions refused."""
import dataclasses
import difflib

from models import MODELS

_DISTRIBUTED_ONLY = ("distributed_replicated",)
_LOCAL_ONLY = ("replicated", "independent")
UPDATES = ("parameter_server",) + _LOCAL_ONLY + _DISTRIBUTED_ONLY
IMAGENET_IMAGES = 1281167
AUTOMATIC_WARMUP = 10


@dataclasses.dataclass(frozen=True)
class Settings:
    flags: object
    model: object
    device: str             # "cpu" or "gpu"
    device_batch: int       # pictures a step on one device
    warmup: int
    ps_hosts: tuple
    worker_hosts: tuple

    @property
    def batch(self):
        """Pictures a step in this process."""
        return self.device_batch * self.flags.num_gpus

    @property
    def workers(self):
        return max(1, len(self.worker_hosts))

    @property
    def distributed(self):
        return bool(self.flags.job_name)

    @property
    def synchronous(self):
        return self.distributed and self.flags.cross_replica_sync

    @property
    def chief(self):
        return self.flags.task_index == 0

    @property
    def learning_rate(self):
        given = self.flags.init_learning_rate
        return self.model.learning_rate if given is None else given

    @property
    def device_names(self):
        prefix = f"/job:worker/replica:0/task{self.flags.task_index}" if self.distributed else ""
        return [f"{prefix}/{self.device}:{index}" for index in range(self.flags.num_gpus)]


def _hosts(text):
    return tuple(host for host in text.split(",") if host)


def _check_cluster(flags, ps_hosts, worker_hosts):
    if flags.job_name == "controller":
        raise ValueError("job_name=controller belongs to distributed_all_reduce, which this program does not have")
    hosts = {"ps": ps_hosts, "worker": worker_hosts}[flags.job_name]
    if not ps_hosts or not worker_hosts:
        raise ValueError("job_name needs both ps_hosts and worker_hosts")
    if not 0 <= flags.task_index < len(hosts):
        raise ValueError(f"task_index={flags.task_index}, but {flags.job_name}_hosts has {len(hosts)} addresses")


def _check(flags, device):
    if flags.model not in MODELS:
        near = difflib.get_close_matches(flags.model, MODELS, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"Invalid model name '{flags.model}' for dataset 'imagenet'{meant} "
                         f"This program has {', '.join(MODELS)}")
    if device == "cpu" and flags.data_format != "NHWC":
        raise ValueError("device=cpu requires that data_format=NHWC")
    if flags.variable_update not in UPDATES:
        raise ValueError(f"variable_update={flags.variable_update} is not in this program, which has "
                         f"{', '.join(UPDATES)}; TensorFlow's own tf_cnn_benchmarks.py has it")
    if flags.job_name and flags.variable_update in _LOCAL_ONLY:
        raise ValueError(f"Invalid variable_update in distributed mode: {flags.variable_update}")
    if not flags.job_name and flags.variable_update in _DISTRIBUTED_ONLY:
        raise ValueError(f"Invalid variable_update in local mode: {flags.variable_update}")
    if flags.variable_update == "distributed_replicated" and not flags.cross_replica_sync:
        raise ValueError("variable_update=distributed_replicated requires cross_replica_sync")
    for name in ("eval", "forward_only", "data_dir"):
        if getattr(flags, name):
            raise ValueError(f"{name} is not in this program, which trains on made-up pictures; "
                             "TensorFlow's own tf_cnn_benchmarks.py has it")
    for name, least in (("batch_size", 0), ("num_batches", 1), ("num_gpus", 1), ("display_every", 1),
                        ("num_warmup_batches", 0), ("save_model_steps", 1)):
        value = getattr(flags, name)
        if value is not None and value < least:
            raise ValueError(f"Param {name} value of {value} is lower than the lower bound of {least}")


def resolve(flags):
    """Raises ValueError, as tf_cnn_benchmarks does, for what makes no sense."""
    device = flags.device.lower()
    _check(flags, device)
    ps_hosts, worker_hosts = _hosts(flags.ps_hosts), _hosts(flags.worker_hosts)
    if flags.job_name:
        _check_cluster(flags, ps_hosts, worker_hosts)
    model = MODELS[flags.model]
    warmup = AUTOMATIC_WARMUP if flags.num_warmup_batches is None else flags.num_warmup_batches
    return Settings(flags, model, device, flags.batch_size or model.batch_size, warmup, ps_hosts, worker_hosts)
