"""The calculation behind a sweep of the benchmark: from where a step's time went to what more workers would bring.

    benchmark_shares.py FOLDER      of tfemu sweep --output FOLDER
"""
import json
import pathlib
import re
import statistics
import sys

SUMMARY = re.compile(r"benchmark summary: (\{.*\})")
NETWORK_BITS_PER_SECOND = 10e9  # of the tutorial's ecs.gn7i-c8g1.2xlarge
TUTORIAL = 198.28


def runs(folder):
    """The workers' summaries of each run that modelled its GPUs, by number of workers."""
    found = {}
    for run in sorted((folder / "logs").iterdir()):
        summaries = [json.loads(match) for log in sorted(run.rglob("*.log"))
                     for match in SUMMARY.findall(log.read_text(errors="replace"))]
        modelled = [one for one in summaries if one["compute"] == "modelled" and one["job"] == "worker"]
        if modelled:
            found.setdefault(modelled[0]["workers"], []).extend(modelled)
    return dict(sorted(found.items()))


def mean(summaries, key):
    return statistics.fmean(one[key] for one in summaries)


def shares(summaries):
    """Seconds of a step's parts, over all workers."""
    parts = {key: mean(summaries, f"{key}_s") for key in ("compute", "pull", "push", "wait")}
    parts["exchange"] = parts["pull"] + parts["push"] + parts["wait"]
    parts["step"] = parts["compute"] + parts["exchange"]
    return parts


def measured_lines(by_workers):
    lines = ["Where a step's time went (means over all workers):",
             "  workers   step      compute (modelled)   exchange (real)   = variables + gradients + waiting   images/sec"]
    for workers, summaries in by_workers.items():
        at = shares(summaries)
        lines.append(f"  {workers:<9} {at['step']:.3f} s   {at['compute']:.3f} s = {at['compute'] / at['step']:6.1%}     "
                     f"{at['exchange']:.3f} s = {at['exchange'] / at['step']:5.1%}   = {at['pull']:.3f} + {at['push']:.3f} "
                     f"+ {at['wait']:.3f} s             {mean(summaries, 'total_images_per_sec'):.1f}")
    return lines


def foreseen_lines(by_workers):
    fewest = min(by_workers)
    batch, base = by_workers[fewest][0]["batch_size"], shares(by_workers[fewest])
    compute, alone = base["compute"], (base["exchange"] - base["wait"]) / fewest
    lines = [f"Foreseen from the run with {fewest} worker{'s' * (fewest > 1)}: all workers compute at once ({compute:.3f} s), then the PS and this host "
             f"serve their exchanges, {alone:.3f} s each,", "between all at once (compute + exchange) and one after the "
             "other (compute + n x exchange):"]
    for workers, summaries in by_workers.items():
        serial = workers * batch / (compute + workers * alone)
        together = workers * batch / (compute + alone)
        measured = mean(summaries, "total_images_per_sec")
        other = "" if measured > 0.97 * serial else " (less: the processors had other work, or too many workers share them)"
        lines.append(f"  {workers} worker{'s' * (workers > 1)}: {serial:.1f} to {together:.1f} images/sec; measured "
                     f"{measured:.1f}{other}")
    return lines, batch, compute, alone


def limit_lines(by_workers, batch, compute, alone):
    fewest, most = min(by_workers), max(by_workers)
    marginal, how = alone, "as if one exchange came after the other"
    if most > fewest:
        added = (shares(by_workers[most])["exchange"] - shares(by_workers[fewest])["exchange"]) / (most - fewest)
        if added > 0:
            marginal, how = added, f"the exchange grew by so much from {fewest} to {most} workers"
    return [f"Where the PS is the limit: each further worker adds {marginal:.3f} s to every step ({how}),",
            f"  so images/sec stay below {batch / marginal:.0f}, and from {int(compute / marginal) + 1} workers on a step is "
            "exchange rather than compute."]


def network_lines(summaries, batch, compute):
    wire = summaries[0]["exchanged_bytes"] * 8 / NETWORK_BITS_PER_SECOND
    rates = ", ".join(f"{workers}: {workers * batch / (compute + workers * wire):.0f}" for workers in (1, 2, 4, 8))
    return [f"On ECI with 10 Gbit/s an exchange of {summaries[0]['exchanged_bytes'] / 1e6:.0f} MB needs the PS {wire:.3f} s; "
            f"images/sec for n workers without any overlap: {rates}.",
            f"  The tutorial's {TUTORIAL} for one worker is the source of the modelled compute time, exchange included: "
            "TensorFlow overlaps the two there,", "  and this model does not, so one worker is slower here by its exchange."]


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    by_workers = runs(pathlib.Path(arguments[0]))
    if not by_workers:
        sys.exit(f"error: no modelled run in {arguments[0]}/logs")
    foreseen, batch, compute, alone = foreseen_lines(by_workers)
    some = next(iter(by_workers.values()))
    for block in (measured_lines(by_workers), foreseen, limit_lines(by_workers, batch, compute, alone),
                  network_lines(some, batch, compute)):
        print(*block, "", sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
