"""The optimizer that the flags name."""
import tensorflow as tf

train = tf.compat.v1.train


def make(settings):
    flags, rate = settings.flags, settings.learning_rate
    if flags.optimizer == "momentum":
        return train.MomentumOptimizer(rate, flags.momentum, use_nesterov=True)
    if flags.optimizer == "rmsprop":
        return train.RMSPropOptimizer(rate, flags.rmsprop_decay, flags.rmsprop_momentum, flags.rmsprop_epsilon)
    if flags.optimizer == "adam":
        return train.AdamOptimizer(rate, flags.adam_beta1, flags.adam_beta2, flags.adam_epsilon)
    return train.GradientDescentOptimizer(rate)
