"""The trained model without its graph: the checkpoint's matrices, multiplied by numpy."""
import numpy as np

import startup
from startup import UserError


class Classifier:
    def __init__(self, log_dir):
        tf = startup.import_tensorflow()
        self.checkpoint = tf.train.latest_checkpoint(log_dir)
        if self.checkpoint is None:
            raise UserError(f"no checkpoint in {log_dir}\nhint: train first; /app/main.py writes there")
        reader = tf.train.load_checkpoint(self.checkpoint)
        self.step = int(reader.get_tensor("global_step"))
        self._layers = [(reader.get_tensor(f"{name}/weights"), reader.get_tensor(f"{name}/biases"))
                        for name in ("hidden", "output")]

    def classify(self, images):
        """Rows of 784 floats in [0, 1] -> the class of each."""
        (hidden, hidden_bias), (output, output_bias) = self._layers
        activations = np.maximum(images @ hidden + hidden_bias, 0)
        return np.argmax(activations @ output + output_bias, axis=1)
