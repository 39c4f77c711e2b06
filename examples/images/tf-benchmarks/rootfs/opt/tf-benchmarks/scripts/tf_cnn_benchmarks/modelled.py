"""A step on a virtual GPU: the exchange with the parameter servers is real, the GPU's work is a wait.

Variables come from the PS into this process's copies; then time passes as it would on the GPU; then gradients of the true
shapes go to the PS, which applies them. The gradients are those of the weights' part of the loss (weight decay), because
the other part needs the computation that does not take place; for the same reason the loss is the weights' part.
"""
import time

import tensorflow as tf

import optimizers
from tf_net import initializer

v1 = tf.compat.v1
PARTS = ("pull", "compute", "push", "wait")


class ModelledStep:
    def __init__(self, settings, placement, network, compute_seconds, use):
        self.network, self._compute_seconds, self._use = network, compute_seconds, use
        self.seconds = {part: [] for part in PARTS}
        with v1.device(placement.variables(placement.host())):
            self.global_step = v1.train.get_or_create_global_step()
            shared = [v1.get_variable(one.name, one.shape, tf.float32, initializer(one), trainable=one.trainable)
                      for one in network.variables]
        trained = [variable for variable, one in zip(shared, network.variables) if one.trainable]
        with v1.device(placement.host()):
            copies = [v1.get_variable("copy/" + one.name, one.shape, tf.float32, v1.zeros_initializer(),
                                      trainable=False, collections=[v1.GraphKeys.LOCAL_VARIABLES])
                      for one in network.trainable]
            pulls = [copy.assign(variable).op for copy, variable in zip(copies, trained)]
            gradients = [settings.flags.weight_decay * copy for copy in copies]
            self._loss = settings.flags.weight_decay * tf.add_n([tf.nn.l2_loss(copy) for copy in copies])
            self._pull = tf.group(*pulls)
        v1.summary.scalar("total_loss", self._loss)
        with v1.device(placement.variables(placement.host())):
            self._push = optimizers.make(settings).apply_gradients(zip(gradients, trained), self.global_step)
        self._barrier = placement.barrier("step_end")

    def run(self, session, loss_wanted):
        """One step; the loss when it is wanted."""
        started = time.perf_counter()
        session.run(self._pull)
        pulled = time.perf_counter()
        deadline = pulled + self._compute_seconds
        while (left := deadline - time.perf_counter()) > 0:
            time.sleep(left)
        computed = time.perf_counter()
        self._use.add(self._compute_seconds)
        session.run(self._push)
        pushed = time.perf_counter()
        session.run(self._barrier)
        ended = time.perf_counter()
        loss = session.run(self._loss) if loss_wanted else None
        for part, seconds in zip(PARTS, (pulled - started, computed - pulled, pushed - computed, ended - pushed)):
            self.seconds[part].append(seconds)
        return loss

    def prepare(self, session):
        """There is nothing to prepare: each step begins with a pull."""

    def forget(self):
        """The warm-up is over."""
        for seconds in self.seconds.values():
            seconds.clear()
