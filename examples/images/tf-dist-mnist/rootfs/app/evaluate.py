"""Tests the newest checkpoint on the whole test set, and fails when it is not good enough."""
import argparse
import json
import os
import sys

import startup
from startup import say


def parse_arguments(argv):
    folder = os.environ.get("TEST_TMPDIR", "/tmp")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", help="as of main.py")
    parser.add_argument("--log-dir", default=os.path.join(folder, "tensorflow", "logs"), help="default: %(default)s")
    parser.add_argument("--report", default=os.path.join(folder, "evaluation.json"), help="default: %(default)s")
    parser.add_argument("--at-least", type=float, default=0.7, help="accuracy that is good enough (default: %(default)s)")
    return parser.parse_args(argv)


def main(argv):
    options = parse_arguments(argv)
    import dataset
    images = dataset.load(options.data_dir, 1)
    import inference
    classifier = inference.Classifier(options.log_dir)
    accuracy = float((classifier.classify(images.test_x) == images.test_y).mean())
    report = {"checkpoint": classifier.checkpoint, "step": classifier.step, "images": len(images.test_x),
              "accuracy": round(accuracy, 4)}
    with open(options.report, "w", encoding="utf-8") as file:
        json.dump(report, file)
    say(f"accuracy {accuracy:.4f} on {len(images.test_x)} images after step {classifier.step}; report in {options.report}")
    return 0 if accuracy >= options.at_least else 1


if __name__ == "__main__":
    try:
        startup.leave(main(sys.argv[1:]))
    except startup.UserError as error:
        print(f"error: {error}", file=sys.stderr)
        startup.leave(1)
