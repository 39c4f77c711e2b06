"""Sessions that survive the loss of a parameter server, for the chief and for the others."""
import tensorflow as tf

from startup import UserError

v1 = tf.compat.v1


def chief(target, config, model, hooks, options):
    """Restores the newest checkpoint or initialises the variables, sets the target, and saves as it goes."""
    saved = [variable for variable in v1.global_variables() if variable is not model.target_step]
    scaffold = v1.train.Scaffold(
        saver=v1.train.Saver(saved, max_to_keep=5),
        ready_for_local_init_op=v1.report_uninitialized_variables(saved),  # target_step is set by local_init_op
        local_init_op=tf.group(v1.train.Scaffold.default_local_init_op(), model.set_target))
    return v1.train.MonitoredTrainingSession(
        master=target, is_chief=True, scaffold=scaffold, hooks=hooks, config=config, checkpoint_dir=options.log_dir,
        save_checkpoint_secs=None, save_checkpoint_steps=options.checkpoint_steps,
        save_summaries_steps=None, save_summaries_secs=None, log_step_count_steps=None)


class _EagerWorker(v1.train.WorkerSessionCreator):
    """Looks every second whether the chief is ready; TensorFlow's own looks every 30 s, longer than the job."""

    def _get_session_manager(self):
        if not self._session_manager:
            self._session_manager = v1.train.SessionManager(
                local_init_op=self._scaffold.local_init_op, ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=v1.get_default_graph(), recovery_wait_secs=1)
        return self._session_manager


def worker(target, config, hooks, options):
    creator = _EagerWorker(master=target, config=config, max_wait_secs=options.max_wait)
    try:
        return v1.train.MonitoredSession(creator, hooks=hooks)
    except tf.errors.DeadlineExceededError as error:
        raise UserError(f"no chief has initialised the model within {options.max_wait} s; is it running?") from error
