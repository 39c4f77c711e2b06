"""A network as its layers describe it: shapes, variables and multiply-adds. This class computes nothing; tf_net does."""
import dataclasses
import math
import typing

CLASSES = 1001  # ImageNet's thousand and a background


@dataclasses.dataclass(frozen=True)
class Variable:
    name: str
    shape: tuple
    init: str  # "he", "zeros", "ones"
    trainable: bool = True

    @property
    def size(self):
        return math.prod(self.shape)


@dataclasses.dataclass(frozen=True)
class Node:
    """A layer's output for one image; `value` is the tensor when there is one."""
    height: int
    width: int
    channels: int
    value: typing.Any = None

    @property
    def size(self):
        return self.height * self.width * self.channels


def _pair(size):
    return size if isinstance(size, tuple) else (size, size)


def _output(length, size, stride, padding):
    return math.ceil(length / stride) if padding == "SAME" else (length - size) // stride + 1


class Net:
    """Layers in the order of their definition. Subclasses override the _methods to build something of them."""

    def __init__(self):
        self.variables = []
        self.multiply_adds = 0   # of one image's forward pass
        self.activations = 0     # numbers that the forward pass keeps for the backward pass
        self._counts = {}

    # Layers.

    def conv(self, x, filters, size, stride=1, padding="SAME", norm=False, relu=True):
        height, width = _pair(size)
        name = self._name("conv")
        weights = self._add(name + "/weights", (height, width, x.channels, filters), "he")
        bias = None if norm else self._add(name + "/biases", (filters,), "zeros")
        y = Node(_output(x.height, height, stride, padding), _output(x.width, width, stride, padding), filters)
        self.multiply_adds += y.size * height * width * x.channels
        y = dataclasses.replace(y, value=self._conv(x, weights, stride, padding))
        if norm:  # which needs its input once more on the way back; a bias is added in place
            y = self._batch_norm(self._keep(y, y.value), name)
        else:
            y = dataclasses.replace(y, value=self._bias(y, bias))
        return self.relu(y) if relu else y

    def affine(self, x, units, relu=True):
        name = self._name("affine")
        weights = self._add(name + "/weights", (x.size, units), "he")
        bias = self._add(name + "/biases", (units,), "zeros")
        self.multiply_adds += x.size * units
        y = Node(1, 1, units, self._affine(x, weights, bias))
        return self.relu(y) if relu else y

    def pool(self, x, size, stride, kind="max", padding="VALID"):
        y = Node(_output(x.height, size, stride, padding), _output(x.width, size, stride, padding), x.channels)
        return self._keep(y, self._pool(x, (size, stride), kind, padding))

    def global_average(self, x):
        return self._keep(Node(1, 1, x.channels), self._global_average(x))

    def pad(self, x, amount):
        return Node(x.height + 2 * amount, x.width + 2 * amount, x.channels, self._pad(x, amount))

    def concat(self, nodes):
        first = nodes[0]
        return Node(first.height, first.width, sum(node.channels for node in nodes), self._concat(nodes))

    def add(self, a, b):
        return self._keep(a, self._sum(a, b))

    def relu(self, x):
        return self._keep(x, self._relu(x))

    def dropout(self, x):
        return self._keep(x, self._dropout(x))

    # What was described.

    @property
    def trainable(self):
        return [variable for variable in self.variables if variable.trainable]

    @property
    def parameters(self):
        return sum(variable.size for variable in self.trainable)

    # For subclasses.

    def _name(self, kind):
        self._counts[kind] = self._counts.get(kind, -1) + 1
        return f"{kind}{self._counts[kind]}"

    def _add(self, name, shape, init, trainable=True):
        variable = Variable(name, shape, init, trainable)
        self.variables.append(variable)
        return self._variable(variable)

    def _keep(self, node, value):
        self.activations += node.size
        return dataclasses.replace(node, value=value)

    def _batch_norm(self, x, name):
        shape = (x.channels,)
        scale, offset = (self._add(f"{name}/batchnorm/{part}", shape, init)
                         for part, init in (("gamma", "ones"), ("beta", "zeros")))
        moving = [self._add(f"{name}/batchnorm/{part}", shape, init, trainable=False)
                  for part, init in (("moving_mean", "zeros"), ("moving_variance", "ones"))]
        # Not kept: what follows works in its place.
        return dataclasses.replace(x, value=self._normalize(x, scale, offset, moving))

    def _variable(self, variable):
        return None

    def _nothing(self, *_):
        return None

    _conv = _bias = _affine = _pool = _global_average = _pad = _concat = _sum = _relu = _dropout = _nothing
    _normalize = _nothing
