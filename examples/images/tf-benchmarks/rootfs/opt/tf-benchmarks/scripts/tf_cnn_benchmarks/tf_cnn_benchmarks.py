"""Trains a CNN on made-up pictures and prints images/sec, in the manner of TensorFlow's tf_cnn_benchmarks.

Not TensorFlow's program: one of our own with its flags and its output, for the models of models/. It adds the virtual
GPU, on which the exchange with the parameter servers is real and computing is a wait (docs/benchmarks.md).
"""
import sys

import compute_times
import explain
import flags as flags_lib
import gpus
import models
import report
import settings as settings_lib
import startup


def main(arguments):
    if any(word.lstrip("-") in ("help", "helpshort", "helpfull") for word in arguments):
        print(flags_lib.help_text())
        return 0
    try:
        flags = flags_lib.parse(arguments)
    except flags_lib.FlagError as error:
        print(f"FATAL Flags parsing error: {error}\nPass --helpshort or --helpfull to see help on flags.",
              file=sys.stderr)
        return 1
    settings = settings_lib.resolve(flags)
    is_server = flags.job_name == "ps"
    virtual = gpus.read_devices() if settings.device == "gpu" and not is_server else []
    rate = compute_times.choose(settings, virtual, lambda name: models.describe(name).multiply_adds)
    for line in explain.announcement(settings, rate, virtual) + report.header(settings, startup.tensorflow_version()):
        report.say(line)
    ignored = flags_lib.without_effect(flags)
    if ignored:
        report.say(f"Without effect in this program: {', '.join('--' + name for name in ignored)}")
    if is_server:
        import parameter_server
        parameter_server.serve(settings)
        return 0
    startup.import_tensorflow()
    import training
    training.work(settings, virtual, rate)
    return 0


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except ValueError as error:  # as tf_cnn_benchmarks ends, without the traceback
        print(f"ValueError: {error}", file=sys.stderr)
        code = 1
    startup.leave(code)
