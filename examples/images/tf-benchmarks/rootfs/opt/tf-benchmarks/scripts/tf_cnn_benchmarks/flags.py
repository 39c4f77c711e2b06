"""The command line: tf_cnn_benchmarks' flags by name, type and default, and its words for mistakes."""
import difflib
import types


class FlagError(Exception):
    """A mistake in the command line, in absl's words."""


_BOOL, _INT, _FLOAT, _TEXT = "boolean", "integer", "number", "string"
_TRUE, _FALSE = ("true", "t", "1", "yes", "y"), ("false", "f", "0", "no", "n")
_UPDATES = ("parameter_server", "replicated", "distributed_replicated", "independent", "distributed_all_reduce",
            "collective_all_reduce", "horovod")
_DEVICES = ("cpu", "gpu", "CPU", "GPU")

# What this program acts on: name, type or the allowed words, default, meaning.
USED = (
    ("model", _TEXT, "trivial", "name of the model to run"),
    ("batch_size", _INT, 0, "batch size per device; 0: the model's own"),
    ("num_batches", _INT, 100, "batches to run, after the warm-up"),
    ("num_warmup_batches", _INT, None, "batches that are not timed; none given: 10"),
    ("num_gpus", _INT, 1, "devices to run on, in this process"),
    ("display_every", _INT, 10, "steps between lines"),
    ("device", _DEVICES, "gpu", "device for computation"),
    ("data_format", ("NHWC", "NCHW"), "NCHW", "layout of pictures"),
    ("local_parameter_device", _DEVICES, "gpu", "where variables or their copies lie in this process"),
    ("variable_update", _UPDATES, "parameter_server", "how variables are kept and updated"),
    ("cross_replica_sync", _BOOL, True, "workers wait for each other after each step"),
    ("optimizer", ("momentum", "sgd", "rmsprop", "adam"), "sgd", "how gradients are applied"),
    ("init_learning_rate", _FLOAT, None, "learning rate; none given: the model's own"),
    ("momentum", _FLOAT, 0.9, "of the optimizer momentum"),
    ("rmsprop_decay", _FLOAT, 0.9, "of rmsprop"),
    ("rmsprop_momentum", _FLOAT, 0.9, "of rmsprop"),
    ("rmsprop_epsilon", _FLOAT, 1.0, "of rmsprop"),
    ("adam_beta1", _FLOAT, 0.9, "of adam"),
    ("adam_beta2", _FLOAT, 0.999, "of adam"),
    ("adam_epsilon", _FLOAT, 1e-8, "of adam"),
    ("weight_decay", _FLOAT, 0.00004, "factor of the weights' part of the loss"),
    ("use_fp16", _BOOL, False, "half precision; here only the modelled time of a virtual GPU changes"),
    ("job_name", ("ps", "worker", "controller", ""), "", "this process's role; empty: it trains alone"),
    ("ps_hosts", _TEXT, "", "comma-separated addresses"),
    ("worker_hosts", _TEXT, "", "comma-separated addresses"),
    ("task_index", _INT, 0, "which of its job's addresses this process has"),
    ("server_protocol", _TEXT, "grpc", "protocol between servers"),
    ("num_intra_threads", _INT, None, "threads of one operation"),
    ("num_inter_threads", _INT, 0, "operations at the same time"),
    ("gpu_memory_frac_for_testing", _FLOAT, 0.0, "share of a GPU's memory"),
    ("allow_growth", _BOOL, None, "take a GPU's memory as needed"),
    ("train_dir", _TEXT, None, "folder for checkpoints and summaries"),
    ("summary_verbosity", _INT, 0, "1 and more: write summaries"),
    ("save_summaries_steps", _INT, 0, "steps between summaries; 0: none"),
    ("save_model_steps", _INT, None, "steps between checkpoints; none given: only at the end"),
    ("max_ckpts_to_keep", _INT, 5, "checkpoints"),
    ("tf_random_seed", _INT, 1234, "seed of the first weights"),
)
# Accepted because manifests have them; they change nothing here (a value other than the default is said at start).
IGNORED = (
    ("flush_stdout", _BOOL, True), ("eval", _BOOL, False), ("forward_only", _BOOL, False), ("data_name", _TEXT, None),
    ("data_dir", _TEXT, None), ("print_training_accuracy", _BOOL, False), ("batch_group_size", _INT, 1),
    ("num_epochs", _FLOAT, None), ("gpu_indices", _TEXT, ""), ("autotune_threshold", _INT, None),
    ("display_perf_ewma", _FLOAT, None), ("use_datasets", _BOOL, True), ("distortions", _BOOL, False),
    ("gpu_thread_mode", _TEXT, "gpu_private"), ("per_gpu_thread_count", _INT, 0), ("hierarchical_copy", _BOOL, False),
    ("gradient_repacking", _INT, 0), ("compact_gradient_transfer", _BOOL, True), ("staged_vars", _BOOL, False),
    ("variable_consistency", _TEXT, "strong"), ("all_reduce_spec", _TEXT, None), ("use_tf_layers", _BOOL, True),
    ("trace_file", _TEXT, ""), ("graph_file", _TEXT, None), ("tfprof_file", _TEXT, None), ("gradient_clip", _FLOAT, None),
    ("num_epochs_per_decay", _FLOAT, 0.0), ("learning_rate_decay_factor", _FLOAT, 0.0), ("xla", _BOOL, False),
    ("minimum_learning_rate", _FLOAT, 0.0), ("piecewise_learning_rate_schedule", _TEXT, None),
    ("xla_compile", _BOOL, False), ("use_xla_compile", _BOOL, False), ("winograd_nonfused", _BOOL, True),
    ("batchnorm_persistent", _BOOL, True), ("sync_on_finish", _BOOL, False), ("force_gpu_compatible", _BOOL, False),
    ("enable_layout_optimizer", _BOOL, False), ("enable_optimizations", _BOOL, True), ("rewriter_config", _TEXT, None),
    ("loss_type_to_report", _TEXT, "total_loss"), ("single_l2_loss_op", _BOOL, False), ("mkl", _BOOL, False),
    ("use_resource_vars", _BOOL, False), ("fp16_loss_scale", _FLOAT, None), ("fp16_vars", _BOOL, False),
    ("fp16_enable_auto_loss_scale", _BOOL, False), ("kmp_blocktime", _INT, 0), ("kmp_settings", _INT, 1),
    ("kmp_affinity", _TEXT, "granularity=fine,verbose,compact,1,0"), ("controller_host", _TEXT, None),
    ("horovod_device", _TEXT, ""), ("save_model_secs", _INT, 0), ("use_numa_affinity", _BOOL, False),
    ("datasets_use_prefetch", _BOOL, True), ("datasets_prefetch_buffer_size", _INT, 1), ("ml_perf", _BOOL, False),
    ("benchmark_log_dir", _TEXT, None), ("use_unified_memory", _BOOL, None), ("local_parameter_sharding", _TEXT, None),
)
_TYPES = {name: (kind, default) for name, kind, default, *_ in USED + IGNORED}


def _value(name, kind, text):
    if isinstance(kind, tuple):
        if text not in kind:
            raise FlagError(f"flag --{name}={text}: value should be one of <{'|'.join(kind)}>")
        return text
    try:
        if kind == _BOOL:
            if text.lower() not in _TRUE + _FALSE:
                raise ValueError("Non-boolean argument to boolean flag", text)
            return text.lower() in _TRUE
        return {_INT: int, _FLOAT: float, _TEXT: str}[kind](text)
    except ValueError as error:
        raise FlagError(f"flag --{name}={text}: {error}") from error


def _unknown(name):
    near = difflib.get_close_matches(name, _TYPES, n=3, cutoff=0.75)
    meant = f" Did you mean: {', '.join(near)} ?" if near else ""
    return FlagError(f"Unknown command line flag '{name}'.{meant}")


def _split(word, words):
    """The flag's name, type and text; takes the next word where the value stands alone."""
    name, equals, text = word.lstrip("-").partition("=")
    if name not in _TYPES and name.startswith("no") and _TYPES.get(name[2:], ("",))[0] == _BOOL and not equals:
        return name[2:], _BOOL, "false"
    if name not in _TYPES:
        raise _unknown(name)
    kind = _TYPES[name][0]
    if not equals and kind == _BOOL:
        return name, kind, "true"
    if not equals:
        if not words:
            raise FlagError(f"Missing value for flag --{name}")
        text = words.pop(0)
    return name, kind, text


def parse(arguments):
    """The values as attributes, each flag's default where it is not given; `given` holds the names that are."""
    values = {name: default for name, (_, default) in _TYPES.items()}
    words, given = list(arguments), []
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word in ("-", "--"):
            raise FlagError(f"Received unknown positional arguments: {[word, *words]}")
        name, kind, text = _split(word, words)
        values[name] = _value(name, kind, text)
        given.append(name)
    return types.SimpleNamespace(**values, given=given)


def without_effect(flags):
    """Names of flags that were given something other than their default and are not acted on."""
    return [name for name, _, default in IGNORED if getattr(flags, name) != default]


def help_text():
    lines = ["Trains a CNN on made-up pictures and prints images/sec (docs/benchmarks.md).", ""]
    for name, kind, default, meaning in USED:
        shown = "|".join(kind) if isinstance(kind, tuple) else kind
        lines.append(f"  --{name}: {meaning} ({shown}; default: {default})")
    lines += ["", "Accepted without effect: " + ", ".join(name for name, *_ in IGNORED)]
    return "\n".join(lines)
