"""A worker: builds its step, warms up, trains the timed batches and prints what tf_cnn_benchmarks prints."""
import dataclasses
import time

import tensorflow as tf

import compute_times
import computed
import explain
import gpus
import modelled
import models
import report
import sessions
from placement import Placement
from report import say

v1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class Timing:
    steps: list        # seconds of each timed step
    rate: float        # images/sec of all workers


def _modelled_step(settings, placement, virtual, rate):
    network = models.describe(settings.model.name)
    memory = gpus.modelled_memory(network, settings.device_batch, settings.flags.optimizer)
    limit = virtual[0].memory_bytes
    if limit and memory > limit:
        say(f"modelled compute: a batch of {settings.device_batch} needs about {memory / 2**30:.1f} GiB and "
            f"{virtual[0].name} has {limit / 2**30:.1f} GiB: a real one would probably run out of memory")
        memory = limit
    return modelled.ModelledStep(settings, placement, network, rate.seconds(settings.device_batch),
                                  gpus.Use(memory, settings.flags.num_gpus))


def choose_rate(settings, virtual):
    """How fast this pod's virtual GPUs are; None when the step is to be computed. Says what it will be."""
    if settings.device == "cpu":
        return None
    if not virtual:
        if not tf.config.list_physical_devices("GPU"):
            say("device=gpu, but TensorFlow finds no GPU here and the pod has no virtual one: computing on the CPU")
        return None
    if len(virtual) < settings.flags.num_gpus:
        raise ValueError(f"num_gpus={settings.flags.num_gpus}, but this pod has {len(virtual)} GPUs")
    gpu = compute_times.find_gpu(virtual[0].name)
    if gpu is None:
        raise ValueError(f"there is no published speed for the virtual GPU \"{virtual[0].name}\"; "
                         f"known: {', '.join(compute_times.GPUS)}")
    rate = compute_times.rate(gpu, settings.model.name, lambda name: models.describe(name).multiply_adds,
                              settings.flags.use_fp16)
    for line in explain.announcement(settings, rate, virtual[0]):
        say(line)
    return rate


def _timed_steps(settings, step, opened):
    every, seconds = settings.flags.display_every, []
    for number in range(1, settings.flags.num_batches + 1):
        shown = report.is_displayed(number, every)
        started = time.perf_counter()
        loss = step.run(opened.session, shown)
        seconds.append(time.perf_counter() - started)
        if shown:
            say(report.step_line(number, settings.batch, seconds, loss))
        opened.after_step(number)
    return seconds


def _train(settings, placement, step):
    barrier = placement.barrier("warm_up_end")
    say("Initializing graph")
    opened = sessions.TrainingSession(settings, placement, step)
    say("Running warm up")
    for _ in range(settings.warmup):
        step.run(opened.session, False)
    step.forget()
    say("Done warm up")
    if settings.synchronous:
        say(report.SYNC_LINE)
        opened.session.run(barrier)
    say(report.COLUMNS)
    before, started = opened.shared_steps(), time.perf_counter()
    seconds = _timed_steps(settings, step, opened)
    elapsed = time.perf_counter() - started
    steps = settings.flags.num_batches * settings.workers
    if settings.distributed and not settings.synchronous:
        steps = opened.shared_steps() - before  # the others' pace is their own
    opened.close()
    return Timing(seconds, steps * settings.batch / elapsed)


def work(settings, virtual):
    v1.set_random_seed(settings.flags.tf_random_seed)
    rate = choose_rate(settings, virtual)
    placement = Placement(settings)
    say("Generating training model")
    if rate:
        step = _modelled_step(settings, placement, virtual, rate)
    else:
        step = computed.ComputedStep(settings, placement)
    timing = _train(settings, placement, step)
    for line in report.total_lines(timing.rate):
        say(line)
    for line in explain.ending(settings, rate, step, timing):
        say(line)
