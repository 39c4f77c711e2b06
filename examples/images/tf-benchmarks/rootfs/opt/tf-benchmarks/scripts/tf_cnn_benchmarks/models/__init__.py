"""The models by name: picture size, default batch size, default learning rate and layers."""
import dataclasses
import typing

import net as net_lib
from models import inception3, resnet, small, vgg


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    image_size: int
    batch_size: int       # when --batch_size is 0
    layers: typing.Callable  # (net, images) -> the node that the classifier is put on
    learning_rate: float = 0.005

    def build(self, net, images=None):
        """Puts the whole network, with its classifier, on `images`; gives the logits."""
        top = self.layers(net, net_lib.Node(self.image_size, self.image_size, 3, images))
        return net.affine(top, net_lib.CLASSES, relu=False)


MODELS = {model.name: model for model in (
    Model("trivial", 227, 32, small.trivial),
    Model("lenet", 28, 32, small.lenet),
    Model("alexnet", 227, 512, small.alexnet),
    Model("vgg16", 224, 64, vgg.vgg16),
    Model("inception3", 299, 32, inception3.inception3),
    Model("resnet50", 224, 64, resnet.layers((3, 4, 6, 3))),
    Model("resnet101", 224, 32, resnet.layers((3, 4, 23, 3))),
    Model("resnet152", 224, 32, resnet.layers((3, 8, 36, 3))),
)}


def describe(name):
    """Shapes, variables and work of a model, without TensorFlow."""
    net = net_lib.Net()
    MODELS[name].build(net)
    return net
