"""Where things lie: the server of this process, the devices of variables, and the barrier between workers."""
import tensorflow as tf

v1 = tf.compat.v1


class Placement:
    def __init__(self, settings):
        self._settings = settings
        self.target = ""
        if settings.distributed:
            self._cluster = {"ps": list(settings.ps_hosts), "worker": list(settings.worker_hosts)}
            self.target = v1.train.Server(self._cluster, job_name="worker", task_index=settings.flags.task_index,
                                          protocol=settings.flags.server_protocol, config=self.config()).target

    def config(self):
        flags = self._settings.flags
        config = v1.ConfigProto(allow_soft_placement=True, inter_op_parallelism_threads=flags.num_inter_threads,
                                intra_op_parallelism_threads=flags.num_intra_threads or 0)
        if self._settings.distributed:  # nobody waits for workers it does not talk to
            config.device_filters.extend(["/job:ps", f"/job:worker/task:{flags.task_index}"])
        config.gpu_options.allow_growth = bool(flags.allow_growth)
        config.gpu_options.per_process_gpu_memory_fraction = flags.gpu_memory_frac_for_testing
        # A copy of variables that is only written must not be optimised away.
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        return config

    def tower(self, index):
        """A device that computes."""
        task = f"/job:worker/task:{self._settings.flags.task_index}" if self._settings.distributed else ""
        return f"{task}/{'gpu' if self._settings.device == 'gpu' else 'cpu'}:"\
               f"{index if self._settings.device == 'gpu' else 0}"

    def host(self):
        """The processor of this process."""
        task = f"/job:worker/task:{self._settings.flags.task_index}" if self._settings.distributed else ""
        return task + "/cpu:0"

    def variables(self, worker_device):
        """For v1.device: shared variables go where they belong, the rest to `worker_device`."""
        if self._settings.distributed:
            return v1.train.replica_device_setter(cluster=self._cluster, worker_device=worker_device)
        kept = "/cpu:0" if self._settings.flags.local_parameter_device.lower() == "cpu" else worker_device

        def place(operation):
            return kept if operation.type in ("Variable", "VariableV2", "VarHandleOp") else worker_device
        return place

    def barrier(self, name, after=()):
        """An operation that ends when all workers have come to it; each has a queue of tokens on the first PS."""
        if not self._settings.synchronous:
            return tf.group(*after)
        mine, workers = self._settings.flags.task_index, self._settings.workers
        with v1.device("/job:ps/task:0/cpu:0"):
            queues = [v1.FIFOQueue(workers * 2, [tf.bool], shapes=[[]], shared_name=f"{name}_{index}")
                      for index in range(workers)]
            with v1.control_dependencies(list(after)):
                tokens = [queue.enqueue(False) for index, queue in enumerate(queues) if index != mine]
            with v1.control_dependencies(list(after) + tokens):
                return queues[mine].dequeue_many(workers - 1).op if workers > 1 else tf.no_op()
