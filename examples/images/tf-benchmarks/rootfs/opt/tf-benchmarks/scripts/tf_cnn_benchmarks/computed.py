"""A step that is really computed, on the processor or on a real GPU."""
import tensorflow as tf

import net as net_lib
import optimizers
from tf_net import TfNet, initializer

v1 = tf.compat.v1


class ComputedStep:
    def __init__(self, settings, placement):
        self._settings, self._placement = settings, placement
        self._optimizer = optimizers.make(settings)
        self._shared = {}   # name -> the variable that the optimizer changes
        self._copies = []   # (this process's copy, the shared one), with distributed_replicated
        with v1.device(placement.variables(placement.host())):
            self.global_step = v1.train.get_or_create_global_step()
        towers = [self._tower(index) for index in range(settings.flags.num_gpus)]
        self._updates = towers[0]["updates"]
        self._loss = tf.add_n([tower["loss"] for tower in towers]) / len(towers)
        v1.summary.scalar("total_loss", self._loss)
        self._step = self._train(towers)

    def run(self, session, loss_wanted):
        """One step; the loss is computed in any case."""
        return session.run([self._loss, self._step])[0]

    def forget(self):
        """The warm-up is over; nothing is counted here."""

    def _variable(self, tower, one):
        update = self._settings.flags.variable_update
        own = update in ("replicated", "independent")
        name = f"v{tower}/{one.name}" if own else one.name
        if name not in self._shared:
            self._shared[name] = v1.get_variable(name, one.shape, tf.float32, initializer(one), trainable=one.trainable)
        if update != "distributed_replicated" or not one.trainable:
            return self._shared[name]
        with v1.device(self._placement.tower(tower)):
            copy = v1.get_variable(f"copy{tower}/{one.name}", one.shape, tf.float32, v1.zeros_initializer(),
                                   trainable=False, collections=[v1.GraphKeys.LOCAL_VARIABLES])
        self._copies.append((copy, self._shared[name]))
        return copy

    def _device(self, index):
        device = self._placement.tower(index)
        own = self._settings.flags.variable_update in ("replicated", "independent")
        return device if own else self._placement.variables(device)

    def _tower(self, index):
        flags, model = self._settings.flags, self._settings.model
        used = []

        def make(one):
            value = self._variable(index, one)
            if one.trainable:
                used.append((value, f"v{index}/{one.name}" if f"v{index}/{one.name}" in self._shared else one.name))
            return value

        with v1.device(self._device(index)):
            images, labels = self._pictures(model)
            net = TfNet(make, flags.data_format)
            logits = model.build(net, images)
            entropy = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits.value))
            decay = tf.add_n([tf.nn.l2_loss(value) for value, _ in used])
            loss = entropy + flags.weight_decay * decay
            gradients = v1.gradients(loss, [value for value, _ in used])
        return {"loss": loss, "gradients": gradients, "names": [name for _, name in used], "updates": net.updates}

    def _pictures(self, model):
        size, count = model.image_size, self._settings.device_batch
        shape = [count, size, size, 3] if self._settings.flags.data_format == "NHWC" else [count, 3, size, size]
        local = {"trainable": False, "collections": [v1.GraphKeys.LOCAL_VARIABLES]}
        with v1.variable_scope("pictures", reuse=v1.AUTO_REUSE), v1.device(self._placement.tower(0)):
            images = v1.get_variable("images", shape, tf.float32, v1.truncated_normal_initializer(0, 0.5), **local)
            labels = v1.get_variable("labels", [count], tf.int32,
                                     v1.random_uniform_initializer(0, net_lib.CLASSES - 1), **local)
        return images, labels

    def _apply(self, gradients, names, count):
        return self._optimizer.apply_gradients(
            zip(gradients, [self._shared[name] for name in names]), self.global_step if count else None)

    def _train(self, towers):
        update = self._settings.flags.variable_update
        if update == "independent" or len(towers) == 1:
            mean = [tower["gradients"] for tower in towers]
        else:
            mean = [[tf.add_n(list(parts)) / len(towers) for parts in zip(*(tower["gradients"] for tower in towers))]]
            mean *= len(towers) if update == "replicated" else 1
        with v1.device(self._placement.variables(self._placement.host())):
            applied = [self._apply(gradients, tower["names"], count=not index)
                       for index, (gradients, tower) in enumerate(zip(mean, towers))]
        done = self._placement.barrier("step_end", applied + self._updates)
        with v1.control_dependencies([done]):
            renewed = [v1.assign(copy, shared.read_value()).op for copy, shared in self._copies]
        return tf.group(done, *renewed)

    def prepare(self, session):
        """To be called once, when the shared variables have their values."""
        session.run(tf.group(*[copy.assign(shared).op for copy, shared in self._copies]))
