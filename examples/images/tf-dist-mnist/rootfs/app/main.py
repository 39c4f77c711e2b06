"""Distributed Fashion-MNIST: every process runs this file, and TF_CONFIG alone decides its role.

    ps              holds the variables and serves until it is stopped
    master, chief   trains, writes checkpoints and summaries, tests the model, and ends the job
    worker          trains beside the chief and ends when the last step is done
    (no TF_CONFIG)  trains alone in this process
"""
import argparse
import os
import sys

import cluster
import startup

DEFAULT_LOG_DIR = os.path.join(os.environ.get("TEST_TMPDIR", "/tmp"), "tensorflow", "logs")


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", help="folder with the four IDX files (default: $TEST_TMPDIR/data, then Debian's)")
    parser.add_argument("--log-dir", default=DEFAULT_LOG_DIR, help="checkpoints and summaries (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=500, help="steps of all workers together (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=100, help="images in a step (default: %(default)s)")
    parser.add_argument("--hidden", type=int, default=64, help="units of the hidden layer (default: %(default)s)")
    parser.add_argument("--learning-rate", type=float, default=0.002, help="Adam's (default: %(default)s)")
    parser.add_argument("--train-images", type=int, default=20000, help="images read (default: %(default)s)")
    parser.add_argument("--summary-steps", type=int, default=20, help="steps between lines (default: %(default)s)")
    parser.add_argument("--checkpoint-steps", type=int, default=100, help="steps between saves (default: %(default)s)")
    parser.add_argument("--step-seconds", type=float, default=0.0, help="pause after a step, to watch (default: none)")
    parser.add_argument("--max-wait", type=int, default=600, help="seconds to wait for the chief (default: %(default)s)")
    options = parser.parse_args(argv)
    for name in ("steps", "batch", "hidden", "train_images", "summary_steps", "checkpoint_steps", "max_wait"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1")
    return options


def main(argv):
    options = parse_arguments(argv)
    task = cluster.task_from_environment()
    startup.say(f"{task.name} starts; {cluster.describe(task)}")
    if task.is_parameter_server:
        import parameter_server
        parameter_server.serve(task)
        return
    import dataset
    images = dataset.load(options.data_dir, options.train_images)  # before the slow import: a missing file shows at once
    startup.say(f"{len(images.train_x)} training and {len(images.test_x)} test images from {images.folder}")
    startup.import_tensorflow()
    import training
    training.train(task, images, options)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except startup.UserError as error:
        print(f"error: {error}", file=sys.stderr)
        startup.leave(1)
    startup.leave(0)
