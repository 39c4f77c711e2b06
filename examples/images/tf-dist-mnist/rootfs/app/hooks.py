"""What happens around each step: when to stop, what to print and record, and the test at the end."""
import os
import time

import tensorflow as tf

from startup import say

v1 = tf.compat.v1


class StopAtTarget(v1.train.SessionRunHook):
    """Ends this process's training when all of them together have reached the target."""

    def __init__(self, model):
        self._fetches = {"step": model.global_step, "target": model.target_step}

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(self._fetches)

    def after_run(self, run_context, run_values):
        if run_values.results["step"] >= run_values.results["target"]:
            run_context.request_stop()


class _Every:
    """True for the first step seen, then whenever the job's step passes a multiple of `steps`."""

    def __init__(self, steps):
        self._steps = steps
        self._due = 0

    def reached(self, step):
        return step >= self._due

    def passed(self, step):
        self._due = (step // self._steps + 1) * self._steps


class Progress(v1.train.SessionRunHook):
    """Prints and records loss and accuracy of the batch, every so many steps of the whole job."""

    def __init__(self, model, options, name):
        self._model, self._options, self._name = model, options, name
        self._writer = None
        self._every = _Every(options.summary_steps)
        self._step = 0              # the newest one seen
        self._line_step = None      # of the last line printed, and when
        self._line_time = 0.0

    def after_create_session(self, session, coord):
        if self._writer is None:
            self._writer = v1.summary.FileWriter(os.path.join(self._options.log_dir, "train"), session.graph)

    def before_run(self, run_context):
        fetches = {"step": self._model.global_step}
        if self._every.reached(self._step + 1):
            fetches |= {"loss": self._model.loss, "accuracy": self._model.accuracy, "summary": self._model.summaries}
        return v1.train.SessionRunArgs(fetches)

    def after_run(self, run_context, run_values):
        results = run_values.results
        self._step = int(results["step"])
        if "summary" in results:
            self._writer.add_summary(results["summary"], self._step)
            say(f"{self._name} step {self._step}: loss {results['loss']:.4f}, accuracy {results['accuracy']:.3f}"
                + self._rate(time.monotonic()))
            self._every.passed(self._step)

    def _rate(self, now):
        before, since = self._line_step, self._line_time
        self._line_step, self._line_time = self._step, now
        if before is None:
            return ""
        return f", {(self._step - before) * self._options.batch / max(now - since, 1e-9):.0f} images/sec"

    def end(self, session):
        self._writer.close()


class Tester(v1.train.SessionRunHook):
    """Measures the model on every test image: each time it is saved, and when it is finished."""

    def __init__(self, model, images, options):
        self._fetches = [model.accuracy, model.loss, model.global_step]
        self._feed = {model.images: images.test_x, model.labels: images.test_y}
        self._step = model.global_step
        self._every = _Every(options.checkpoint_steps)
        self._folder = os.path.join(options.log_dir, "test")
        self._writer = None

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step = int(run_values.results)
        if self._every.reached(step):
            self._measure(run_context.session)
            self._every.passed(step)

    def _measure(self, session):
        accuracy, loss, step = session.run(self._fetches, self._feed)
        self._writer = self._writer or v1.summary.FileWriter(self._folder)
        summary = v1.Summary()
        summary.value.add(tag="accuracy", simple_value=accuracy)
        summary.value.add(tag="loss", simple_value=loss)
        self._writer.add_summary(summary, int(step))
        return accuracy, loss, step

    def end(self, session):
        accuracy, loss, step = self._measure(session)
        self._writer.close()
        images = len(next(iter(self._feed.values())))
        say(f"test accuracy {accuracy:.4f} on {images} images after step {step}, loss {loss:.4f}")
