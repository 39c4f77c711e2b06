"""Asks a model server for the classes of test images, and says how many are right."""
import argparse
import json
import sys
import time
import urllib.error
import urllib.request

import startup
from startup import UserError, say

NAMES = ("T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")


def ask(url, images, patience):
    """A server that is just starting is waited for."""
    request = urllib.request.Request(url, json.dumps({"instances": images.tolist()}).encode(),
                                     {"Content-Type": "application/json"})
    deadline = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as reply:
                return json.load(reply)["predictions"]
        except (urllib.error.URLError, ConnectionError) as error:
            if time.monotonic() > deadline:
                raise UserError(f"{url} does not answer: {error}") from error
            time.sleep(0.2)


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://mnist:8501/v1/models/mnist:predict", help="default: %(default)s")
    parser.add_argument("--images", type=int, default=100, help="default: %(default)s")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for it (default: %(default)s)")
    parser.add_argument("--data-dir", help="as of main.py")
    options = parser.parse_args(argv)
    import dataset
    images = dataset.load(options.data_dir, 1)
    wanted = images.test_y[:options.images]
    found = ask(options.url, images.test_x[:options.images], options.patience)
    for label, guess in list(zip(wanted, found))[:5]:
        say(f"{NAMES[label]:<10} taken for {NAMES[guess]}")
    right = sum(int(label) == guess for label, guess in zip(wanted, found))
    say(f"{right} of {len(found)} right")
    return 0 if right * 2 > len(found) else 1


if __name__ == "__main__":
    try:
        startup.leave(main(sys.argv[1:]))
    except startup.UserError as error:
        print(f"error: {error}", file=sys.stderr)
        startup.leave(1)
