"""A worker: builds its step, warms up, trains the timed batches and prints what tf_cnn_benchmarks prints."""
import dataclasses
import time

import tensorflow as tf

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


def _say_where_it_computes(settings):
    if settings.device == "gpu" and not tf.config.list_physical_devices("GPU"):
        say("device=gpu, but TensorFlow finds no GPU here and the pod has no virtual one: computing on the CPU")


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


def work(settings, virtual, rate):
    """`rate` is how fast the virtual GPUs are said to be, None when the step is to be computed."""
    v1.set_random_seed(settings.flags.tf_random_seed)
    if not rate:
        _say_where_it_computes(settings)
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
