"""Builds, runs all suites and counts single cases, whatever the test program is."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCTEST = re.compile(r"\[doctest\] test cases:\s*(\d+)\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed\s*\|\s*(\d+) skipped")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
SANITIZED_SUITES = ("unit", "golden", "sim")
SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TFEMU_SIM_STRIDE": "10",  # every tenth crash point: instrumented code takes ten times as long
}


class Count:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.bad = []

    def add(self, name, passed, failed, skipped=0):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        if failed:
            self.bad.append(name)

    def line(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def say(text):
    print(f"== {text}", flush=True)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], cwd=ROOT, **options).returncode


def configure(build, *settings):
    if not (ROOT / build / "build.ninja").exists():
        say(f"configuring {build}")
        if run("meson", "setup", build, *settings) != 0:
            sys.exit(f"error: meson could not configure {build}; its log is {build}/meson-logs/meson-log.txt")
    elif run("ninja", "-C", build, "build.ninja", stdout=subprocess.DEVNULL) != 0:  # introspection does not look itself
        sys.exit(f"error: {build} could not be configured anew; remove it and try again")


def tests_of(build, suites):
    """meson's records of the tests that are in one of the suites."""
    text = subprocess.run(["meson", "introspect", build, "--tests"], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout
    return [test for test in json.loads(text)
            if {suite.split(":")[-1] for suite in test["suite"]} & set(suites)]


def build_for(build, tests):
    """Builds only what the tests run."""
    targets = subprocess.run(["meson", "introspect", build, "--targets"], cwd=ROOT, capture_output=True, text=True,
                             check=True).stdout
    wanted = {target for test in tests for target in test["depends"]}
    files = [pathlib.Path(name).relative_to(ROOT / build) for target in json.loads(targets)
             if target["id"] in wanted for name in target["filename"]]
    return run("ninja", "-C", build, *files)


def count_one(record, count, label):
    """One test program's cases: doctest's and pytest's own count, else the program is one case."""
    output = COLOURS.sub("", record.get("stdout") or "") + COLOURS.sub("", record.get("stderr") or "")
    name = f"{label}{record['name'].split(' / ')[-1]}"
    failed_program = record["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")
    report = re.search(r"^generated xml file: (.+?) -*$", output, re.M | re.I) or re.search(
        r"generated xml file: (\S+)", output)
    cases = DOCTEST.findall(output)
    if cases:
        passed, failed = (sum(int(row[i]) for row in cases) for i in (1, 2))
        count.add(name, passed, failed + (1 if failed_program and not failed else 0))
    elif report and pathlib.Path(report[1]).exists():
        suite = xml.etree.ElementTree.parse(report[1]).getroot().find("testsuite")
        total, failed = int(suite.get("tests")), int(suite.get("failures")) + int(suite.get("errors"))
        skipped = int(suite.get("skipped"))
        count.add(name, total - failed - skipped, failed, skipped)
    else:
        skipped = record["result"] == "SKIP"
        count.add(name, 0 if failed_program or skipped else 1, int(failed_program), int(skipped))
    if failed_program:
        print(f"---- {name}: {record['result']}", *output.splitlines()[-80:], sep="\n", flush=True)


def run_suites(build, suites, count, label="", environment=None):
    say(f"{build}: {' '.join(suites)}")
    log = ROOT / build / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    started = time.monotonic()
    arguments = [word for suite in suites for word in ("--suite", suite)]
    # Meson kills a test at its limit; two cores that also compile elsewhere need some more.
    run("meson", "test", "-C", build, "--no-rebuild", "--timeout-multiplier", 3, *arguments,
        env=os.environ | (environment or {}), stdin=subprocess.DEVNULL)
    if not log.exists():
        if tests_of(build, suites):
            count.add(f"{label}{build}: no test ran", 0, 1)
        return
    for line in log.read_text().splitlines():
        count_one(json.loads(line), count, label)
    say(f"{build}: {' '.join(suites)} took {time.monotonic() - started:.0f} s; so far {count.line()}")


def sanitized(count):
    configure("build-asan", "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=1",
              "-Dcpp_args=-Wno-maybe-uninitialized")  # GCC 12 misreads instrumented code
    tests = tests_of("build-asan", SANITIZED_SUITES)
    say(f"building {len(tests)} test programs with ASan and UBSan")
    if build_for("build-asan", tests) != 0:
        count.add("build-asan does not compile", 0, 1)
        return
    run_suites("build-asan", SANITIZED_SUITES, count, "asan ", SANITIZER_ENVIRONMENT)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="only what needs no root and no cluster")
    parser.add_argument("--no-sanitizers", action="store_true")
    parser.add_argument("--no-e2e", action="store_true")
    parser.add_argument("--build", default="build", help="build folder (default: %(default)s)")
    options = parser.parse_args()
    started = time.monotonic()
    count = Count()
    configure(options.build)
    say("building")
    if run("ninja", "-C", options.build) != 0:
        sys.exit("error: the build failed")
    run_suites(options.build, ["unit", "golden", "sim", "link", "tidy"], count)
    if not options.fast:
        run_suites(options.build, ["runtime"], count)
        if not options.no_sanitizers:
            sanitized(count)
        if not options.no_e2e:
            run_suites(options.build, ["e2e"], count)
    say(f"all took {time.monotonic() - started:.0f} s")
    for name in count.bad:
        print(f"failed: {name}")
    print(count.line(), flush=True)
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
