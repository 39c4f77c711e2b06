"""Opening the session: worker 0 initialises or restores what is shared, the others wait for it."""
import os
import time

import tensorflow as tf

from report import say

v1 = tf.compat.v1
_POLL_SECONDS, _REMIND_SECONDS = 0.5, 30


class TrainingSession:
    """A session with initialised variables; writes checkpoints and summaries into train_dir when there is one."""

    def __init__(self, settings, placement, step):
        self._flags, self._step = settings.flags, step
        self._folder = settings.flags.train_dir if settings.chief else None
        if self._folder:
            os.makedirs(self._folder, exist_ok=True)
        self._saver = v1.train.Saver(max_to_keep=settings.flags.max_ckpts_to_keep) if self._folder else None
        summaries = self._folder and settings.flags.summary_verbosity > 0 and settings.flags.save_summaries_steps > 0
        self._writer = v1.summary.FileWriter(self._folder, v1.get_default_graph()) if summaries else None
        self._summary = v1.summary.merge_all()
        self._init = [v1.global_variables_initializer(), v1.local_variables_initializer()]
        self._missing = v1.report_uninitialized_variables(v1.global_variables())
        self.session = v1.Session(placement.target, config=placement.config())
        if settings.chief:
            self._initialise()
        else:
            self._await_chief()
        step.prepare(self.session)

    def _initialise(self):
        self.session.run(self._init[0])
        newest = v1.train.latest_checkpoint(self._folder) if self._folder else None
        if newest:
            self._saver.restore(self.session, newest)
            say(f"Restored {newest}")
        self.session.run(self._init[1])

    def _await_chief(self):
        remind = time.monotonic() + _REMIND_SECONDS
        while len(self.session.run(self._missing)):
            if time.monotonic() > remind:
                say("Waiting for worker 0 to initialise the variables")
                remind += _REMIND_SECONDS
            time.sleep(_POLL_SECONDS)
        self.session.run(self._init[1])

    def shared_steps(self):
        """Steps of all workers together."""
        return int(self.session.run(self._step.global_step))

    def after_step(self, step):
        """Saves what is due after this timed step."""
        if self._writer and step % self._flags.save_summaries_steps == 0:
            self._writer.add_summary(self.session.run(self._summary), self.shared_steps())
        if self._saver and self._flags.save_model_steps and step % self._flags.save_model_steps == 0:
            self._save()

    def close(self):
        if self._saver:
            self._save()
        if self._writer:
            self._writer.close()

    def _save(self):
        self._saver.save(self.session, os.path.join(self._folder, "model.ckpt"), global_step=self.shared_steps())
