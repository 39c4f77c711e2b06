"""The network as TensorFlow operations; what it needs to know of shapes and variables, net.py works out."""
import tensorflow as tf

from net import Net

v1 = tf.compat.v1
_EPSILON, _MOVING = 1e-3, 0.1


def initializer(variable):
    if variable.init == "he":
        return v1.initializers.he_normal()
    return v1.zeros_initializer() if variable.init == "zeros" else v1.ones_initializer()


class TfNet(Net):
    """`make_variable` gives the tensor that stands for a variable. `updates` are those of moving statistics."""

    def __init__(self, make_variable, data_format):
        super().__init__()
        self._make_variable, self._format = make_variable, data_format
        self.updates = []

    def _spatial(self, height, width, rest=1):
        return [rest, height, width, rest] if self._format == "NHWC" else [rest, rest, height, width]

    def _variable(self, variable):
        return self._make_variable(variable)

    def _conv(self, x, weights, stride, padding):
        return v1.nn.conv2d(x.value, weights, self._spatial(stride, stride), padding, data_format=self._format)

    def _bias(self, y, bias):
        return tf.nn.bias_add(y.value, bias, data_format=self._format)

    def _normalize(self, x, scale, offset, moving):
        y, mean, variance = v1.nn.fused_batch_norm(x.value, scale, offset, epsilon=_EPSILON, is_training=True,
                                                   data_format=self._format)
        self.updates += [v1.assign_sub(kept, _MOVING * (kept - seen))
                         for kept, seen in zip(moving, (mean, variance)) if hasattr(kept, "initializer")]
        return y

    def _affine(self, x, weights, bias):
        return tf.nn.bias_add(tf.matmul(tf.reshape(x.value, [-1, x.size]), weights), bias)

    def _pool(self, x, size_and_stride, kind, padding):
        size, stride = size_and_stride
        pool = v1.nn.max_pool if kind == "max" else v1.nn.avg_pool
        return pool(x.value, self._spatial(size, size), self._spatial(stride, stride), padding,
                    data_format=self._format)

    def _global_average(self, x):
        return tf.reduce_mean(x.value, [1, 2] if self._format == "NHWC" else [2, 3])

    def _pad(self, x, amount):
        around, nothing = [amount, amount], [0, 0]
        rows = [around, around]
        return tf.pad(x.value, [nothing, *rows, nothing] if self._format == "NHWC" else [nothing, nothing, *rows])

    def _concat(self, nodes):
        return tf.concat([node.value for node in nodes], 3 if self._format == "NHWC" else 1)

    def _sum(self, a, b):
        return a.value + b.value

    def _relu(self, x):
        return tf.nn.relu(x.value)

    def _dropout(self, x):
        return v1.nn.dropout(x.value, rate=0.5)
