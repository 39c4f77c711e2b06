"""Parameter counts against the literature: what crosses the network each step depends on them."""
import pytest

import models

# Millions of trainable parameters with 1001 classes; published figures are for 1000.
PUBLISHED = {
    "alexnet": 61.8,     # 61.1 for one tower (torchvision), whose layers are these; 4096 more for class 1001, and biases
    "vgg16": 138.36,     # 138.36 (Simonyan and Zisserman give 138)
    "inception3": 23.83, # 23.83 without the auxiliary classifier
    "resnet50": 25.56,   # 25.56
    "resnet101": 44.55,  # 44.55
    "resnet152": 60.19,  # 60.19
}
MULTIPLY_ADDS = {"alexnet": 0.84, "vgg16": 15.47, "inception3": 5.71, "resnet50": 3.86, "resnet101": 7.57,
                 "resnet152": 11.28}  # billions


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters(name):
    described = models.describe(name)
    assert described.parameters / 1e6 == pytest.approx(PUBLISHED[name], rel=0.002)
    assert described.multiply_adds / 1e9 == pytest.approx(MULTIPLY_ADDS[name], rel=0.005)


def test_small_models():
    assert models.describe("trivial").parameters == 227 * 227 * 3 + 1 + 2 * 4096 + 4097 * 1001
    assert models.describe("lenet").parameters == (5 * 5 * 3 + 1) * 32 + (25 * 32 + 1) * 64 + (3136 + 1) * 512 + 513 * 1001


def test_resnet50_has_161_tensors_to_exchange_and_moving_statistics_beside():
    described = models.describe("resnet50")
    assert len(described.trainable) == 161
    assert len(described.variables) == 161 + 2 * 53
    assert len({variable.name for variable in described.variables}) == len(described.variables)


def test_every_model_ends_in_the_classes():
    for model in models.MODELS.values():
        assert models.describe(model.name).variables[-1].shape == (1001,)
