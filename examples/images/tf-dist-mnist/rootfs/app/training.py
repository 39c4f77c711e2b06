"""Between-graph training: each process builds the graph, the variables live on the parameter servers."""
import os
import time

import numpy as np
import tensorflow as tf

import hooks
import model as model_lib
import sessions
from startup import say

v1 = tf.compat.v1


def _placement(task):
    if "ps" not in task.cluster:
        return None
    return v1.train.replica_device_setter(cluster=task.cluster, worker_device=task.device)


def _config(task):
    config = v1.ConfigProto()
    if task.cluster:  # nobody waits for peers it does not need
        config.device_filters.extend(["/job:ps", task.device])
    return config


def _run_steps(session, model, images, options, seed):
    chooser = np.random.RandomState(seed)
    started, steps = time.monotonic(), 0
    while not session.should_stop():
        chosen = chooser.randint(0, len(images.train_x), options.batch)
        session.run(model.train_step,
                    {model.images: images.train_x[chosen], model.labels: images.train_y[chosen]})
        steps += 1
        if options.step_seconds:
            time.sleep(options.step_seconds)
    return steps, time.monotonic() - started


def train(task, images, options):
    config = _config(task)
    target = ""
    if task.cluster:
        target = v1.train.Server(task.cluster, job_name=task.type, task_index=task.index, config=config).target
        say(f"{task.name} listens at {task.cluster[task.type][task.index]}")
    with tf.Graph().as_default(), v1.device(_placement(task)):  # v1.device: tf.device takes no functions
        model = model_lib.build(options.hidden, options.learning_rate, options.steps)
        run_hooks = [hooks.StopAtTarget(model)]
        if task.is_chief:
            os.makedirs(options.log_dir, exist_ok=True)
            run_hooks += [hooks.Progress(model, options, task.name), hooks.Tester(model, images, options)]
            opened = sessions.chief(target, config, model, run_hooks, options)
        else:
            say(f"waits for the chief, {options.max_wait} s at most")
            opened = sessions.worker(target, config, run_hooks, options)
        with opened as session:
            say("session is ready")
            steps, seconds = _run_steps(session, model, images, options, seed=task.index + 100 * (not task.is_chief))
    rate = steps * options.batch / max(seconds, 1e-9)
    say(f"{task.name} made {steps} steps in {seconds:.2f} s, {rate:.0f} images/sec")
    if task.is_chief:
        say(f"checkpoints and summaries are in {options.log_dir}")
