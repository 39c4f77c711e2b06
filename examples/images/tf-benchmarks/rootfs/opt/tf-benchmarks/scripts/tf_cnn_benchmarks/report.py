"""The lines that tf_cnn_benchmarks prints, to the letter: what reads its output reads this."""
import statistics

from settings import IMAGENET_IMAGES

RULE = "-" * 64
COLUMNS = "Step\tImg/sec\ttotal_loss"
SYNC_LINE = "Waiting for other replicas to finish warm up"


def say(line):
    print(line, flush=True)


def header(settings, version):
    flags = settings.flags
    images = settings.batch * settings.workers
    lines = [
        f"TensorFlow:  {'.'.join(version.split('.')[:2])}",
        f"Model:       {'lenet5' if settings.model.name == 'lenet' else settings.model.name}",
        "Dataset:     imagenet (synthetic)",
        "Mode:        training",
        "SingleSess:  False",
        f"Batch size:  {images} global",
        f"             {settings.device_batch} per device",
        f"Num batches: {flags.num_batches}",
        f"Num epochs:  {images * flags.num_batches / IMAGENET_IMAGES:.2f}",
        f"Devices:     {settings.device_names}",
        "NUMA bind:   False",
        f"Data format: {flags.data_format}",
        f"Optimizer:   {flags.optimizer}",
        f"Variables:   {flags.variable_update}",
    ]
    if flags.variable_update == "replicated":
        lines.append(f"AllReduce:   {flags.all_reduce_spec}")
    if settings.distributed:
        lines.append(f"Sync:        {flags.cross_replica_sync}")
    return lines + ["=========="]


def step_line(step, batch, seconds, loss):
    """The line after a step; `seconds` are those of all timed steps up to this one."""
    speeds = [batch / second for second in seconds]
    mean = batch * len(seconds) / sum(seconds)
    uncertainty = statistics.pstdev(speeds) / len(speeds) ** 0.5
    middle = statistics.median(speeds)
    jitter = 1.4826 * statistics.median(abs(speed - middle) for speed in speeds)
    return f"{step}\timages/sec: {mean:.1f} +/- {uncertainty:.1f} (jitter = {jitter:.1f})\t{loss:.3f}"


def is_displayed(step, every):
    return step == 1 or step % every == 0


def total_lines(rate):
    return [RULE, f"total images/sec: {rate:.2f}", RULE]
