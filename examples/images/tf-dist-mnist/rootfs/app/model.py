"""The graph: a perceptron with one hidden layer, its training step and its summaries."""
import dataclasses
import typing

import tensorflow as tf

v1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class Model:
    images: typing.Any
    labels: typing.Any
    loss: typing.Any
    accuracy: typing.Any
    train_step: typing.Any
    global_step: typing.Any
    target_step: typing.Any   # the last step of this run; the chief sets it, everybody obeys it
    set_target: typing.Any
    summaries: typing.Any


def _layer(name, x, units):
    with v1.variable_scope(name):
        weights = v1.get_variable("weights", [x.shape[1], units],
                                  initializer=v1.truncated_normal_initializer(stddev=0.05, seed=1))
        biases = v1.get_variable("biases", [units], initializer=v1.zeros_initializer())
        return tf.matmul(x, weights) + biases


def build(hidden, learning_rate, steps):
    """Builds into the default graph, on the default device."""
    global_step = v1.train.get_or_create_global_step()
    images = v1.placeholder(tf.float32, [None, 784], name="images")
    labels = v1.placeholder(tf.int64, [None], name="labels")
    logits = _layer("output", tf.nn.relu(_layer("hidden", images, hidden)), 10)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    train_step = v1.train.AdamOptimizer(learning_rate).minimize(loss, global_step=global_step)
    # A job applied a second time over the same folder restores the finished run, and trains as many steps again.
    target_step = v1.get_variable("target_step", [], tf.int64, v1.zeros_initializer(), trainable=False)
    set_target = v1.assign(target_step, (global_step // steps + 1) * steps)
    summaries = v1.summary.merge([v1.summary.scalar("loss", loss), v1.summary.scalar("accuracy", accuracy)])
    return Model(images, labels, loss, accuracy, train_step, global_step, target_step, set_target, summaries)
