"""How long a GPU computes on a batch: images/sec of training as published, each with its source, nothing fitted here.

Cells that nobody published are derived, and say so when they are used:
* another model on a GPU that has resnet50: in the ratio of the two on the P100, which has most, else over their
  multiply-adds;
* a GPU without any: from one of the nearest design, over the smaller of the ratios of peak arithmetic and memory
  bandwidth in NVIDIA's data sheets.
"""
import dataclasses

_GUIDE = "tensorflow.org performance guide, May 2017: tf_cnn_benchmarks, one P100 of a DGX-1, synthetic data, FP32"
_LAMBDA = "Lambda, RTX 2080 Ti Deep Learning Benchmarks with TensorFlow, March 2019: tf_cnn_benchmarks, V100, FP32"
_NVIDIA = "NVIDIA DeepLearningExamples, ResNet-50 v1.5 for TensorFlow 20.06, one A100 40GB of a DGX A100, TF32 with XLA"
_ECI = ("Alibaba Cloud's ECI tutorial, step 7: tf_cnn_benchmarks on ecs.gn7i-c8g1.2xlarge, one worker and one ps; "
        "its exchange is in the figure, so the GPU alone is at least this fast")

# (GPU, model) -> images/sec, batch, source
PUBLISHED = {
    ("A10", "resnet50"): (198.28, 128, _ECI),
    ("A100", "resnet50"): (909.0, 256, _NVIDIA),
    ("V100", "resnet50"): (405.0, 64, _LAMBDA),
    ("V100", "resnet152"): (155.0, 64, _LAMBDA),
    ("V100", "inception3"): (259.0, 64, _LAMBDA),
    ("P100", "inception3"): (142.0, 64, _GUIDE),
    ("P100", "resnet50"): (219.0, 64, _GUIDE),
    ("P100", "resnet152"): (91.8, 64, _GUIDE),
    ("P100", "alexnet"): (2987.0, 512, _GUIDE),
    ("P100", "vgg16"): (154.0, 64, _GUIDE),
}
# Data sheets: peak TFLOPS of FP32 (of TF32 for A100 and A30, whose published figure uses it), memory in GB/s.
_PEAKS = {"A10": (31.2, 600), "A100": (156.0, 1555), "A30": (82.0, 933), "L20": (59.8, 864), "P100": (10.6, 732),
          "P4": (5.5, 192), "T4": (8.1, 320), "V100": (15.7, 900)}
_NEAREST = {"A30": "A100", "L20": "A10", "P4": "P100", "T4": "V100"}
_COMPLETE = "P100"
GPUS = tuple(_PEAKS)
# --use_fp16 on tensor cores: NVIDIA's page above has 412 and 1270 img/s on a V100; other GPUs are taken as FP32.
_HALF_PRECISION = {"V100": (1270 / 412, "NVIDIA's ResNet-50 page: mixed precision 1270, FP32 412 img/s")}


@dataclasses.dataclass(frozen=True)
class Rate:
    gpu: str
    model: str
    images_per_second: float
    source: str

    def seconds(self, batch):
        return batch / self.images_per_second


def find_gpu(name):
    """The table's GPU that a product name such as "NVIDIA A10 (emulated)" means, or None."""
    words = name.upper().replace("-", " ").replace("_", " ").replace("(", " ").split()
    return next((gpu for gpu in GPUS if gpu in words), None)


def rate(gpu, model, work, half=False):
    """`work` gives a model's multiply-adds for one picture."""
    found = _full_precision(gpu, model, work)
    if half and gpu in _HALF_PRECISION:
        factor, source = _HALF_PRECISION[gpu]
        return Rate(gpu, model, found.images_per_second * factor, f"{found.source}; times {factor:.2f}: {source}")
    return found


def _full_precision(gpu, model, work):
    if (gpu, model) in PUBLISHED:
        images, batch, source = PUBLISHED[gpu, model]
        return Rate(gpu, model, images, f"{source}, batch {batch}")
    if gpu in _NEAREST:
        base = _full_precision(_NEAREST[gpu], model, work)
        factor = min(mine / theirs for mine, theirs in zip(_PEAKS[gpu], _PEAKS[base.gpu]))
        return Rate(gpu, model, base.images_per_second * factor,
                    f"derived: {factor:.3f} times {base.gpu} ({base.source}) by the data sheets' peaks")
    known = "resnet50"
    images, batch, source = PUBLISHED[gpu, known]
    if (_COMPLETE, model) in PUBLISHED:
        factor, how = PUBLISHED[_COMPLETE, model][0] / PUBLISHED[_COMPLETE, known][0], f"as on the {_COMPLETE} ({_GUIDE})"
    else:
        factor, how = work(known) / work(model), "over the multiply-adds"
    return Rate(gpu, model, images * factor, f"derived: {factor:.3g} times {known} {how}; {known}: {source}, batch {batch}")


def choose(settings, virtual, work):
    """The speed of this pod's virtual GPUs; None when there is nothing to model."""
    if settings.device == "cpu" or not virtual:
        return None
    if len(virtual) < settings.flags.num_gpus:
        raise ValueError(f"num_gpus={settings.flags.num_gpus}, but this pod has {len(virtual)} GPUs")
    gpu = find_gpu(virtual[0].name)
    if gpu is None:
        raise ValueError(f"there is no published speed for the virtual GPU \"{virtual[0].name}\"; "
                         f"known: {', '.join(GPUS)}")
    return rate(gpu, settings.model.name, work, settings.flags.use_fp16)
