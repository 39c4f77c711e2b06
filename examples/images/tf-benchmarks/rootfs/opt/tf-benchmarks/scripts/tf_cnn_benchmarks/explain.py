"""What a modelled run says about itself: what is modelled, where a step's time went, and what more workers would bring."""
import json
import statistics

NETWORK_BITS_PER_SECOND = 10e9  # of the tutorial's ecs.gn7i-c8g1.2xlarge
_FORESEEN = (1, 2, 4, 8)


def announcement(settings, rate, virtual):
    """The first lines of a run that is modelled; none of another."""
    if not rate:
        return []
    seconds = rate.seconds(settings.device_batch)
    return [
        f"modelled compute: {virtual[0].name} is a virtual GPU: forward and backward pass are a wait of "
        f"{seconds:.4f} s a batch ({rate.images_per_second:.2f} images/sec); variables, gradients and their way to the "
        "PS and back are real",
        f"modelled compute: source: {rate.source}",
    ]


def step_seconds(compute, exchange, workers):
    """A step when the PS serves one worker after the other: all compute at once, then wait for each other."""
    return compute + workers * exchange


def _forecast(batch, compute, exchange):
    rates = [f"{workers}: {workers * batch / step_seconds(compute, exchange, workers):.1f}" for workers in _FORESEEN]
    return f"{', '.join(rates)}, never more than {batch / exchange:.1f}"


def shares(step):
    """Mean seconds of a step's parts."""
    return {part: statistics.fmean(seconds) for part, seconds in step.seconds.items()}


def _bytes(step):
    return 4 * step.network.parameters


def _modelled_lines(settings, step, parts):
    total = sum(parts.values())
    compute, exchange = parts["compute"], total - parts["compute"]
    megabytes, batch = _bytes(step) / 1e6, settings.batch
    # Of the exchange, what one worker alone would need, if the PS served one after the other.
    alone = (exchange - parts["wait"]) / settings.workers
    first = (f"modelled compute: a step took {total:.4f} s = {compute:.4f} s compute (modelled, {compute / total:.1%}) + "
             f"{exchange:.4f} s exchange (real, {exchange / total:.1%})")
    if not settings.distributed:
        return [first + ", with variables in this process's memory"]
    wire = 2 * _bytes(step) * 8 / NETWORK_BITS_PER_SECOND
    return [
        first,
        f"modelled compute: the exchange was {parts['pull']:.4f} s for {megabytes:.1f} MB of variables from the PS, "
        f"{parts['push']:.4f} s for {megabytes:.1f} MB of gradients to it and their application, and {parts['wait']:.4f} "
        f"s of waiting for {settings.workers - 1} other workers",
        f"modelled compute: one worker's exchange takes the PS about {alone:.4f} s here, and computing hides no more than "
        f"{compute / alone:.1f} such exchanges: with more workers than {compute / alone + 1:.0f} the PS is the limit",
        f"modelled compute: images/sec foreseen here, compute + n x exchange, for n workers: "
        f"{_forecast(batch, compute, alone)}",
        f"modelled compute: with 10 Gbit/s between ECI instances, {wire:.4f} s an exchange and no overlap: "
        f"{_forecast(batch, compute, wire)}; with full overlap one worker has {batch / max(compute, wire):.1f}",
    ]


def summary(settings, rate, step, timing):
    mean = statistics.fmean(timing.steps)
    values = {
        "model": settings.model.name, "compute": "modelled" if rate else "real", "device": settings.device,
        "job": settings.flags.job_name, "task_index": settings.flags.task_index, "workers": settings.workers,
        "batch_size": settings.batch, "steps": len(timing.steps), "step_s": round(mean, 6),
        "images_per_sec": round(settings.batch / mean, 3), "total_images_per_sec": round(timing.rate, 3)}
    if rate:
        values |= {"gpu": rate.gpu, "source": rate.source, "exchanged_bytes": 2 * _bytes(step)}
        values |= {f"{part}_s": round(seconds, 6) for part, seconds in shares(step).items()}
    return "benchmark summary: " + json.dumps(values)


def ending(settings, rate, step, timing):
    lines = _modelled_lines(settings, step, shares(step)) if rate else []
    return lines + [summary(settings, rate, step, timing)]
