"""The role of this process, as the TFJob controller describes it in TF_CONFIG."""
import dataclasses
import json
import os

from startup import UserError

CHIEF_TYPES = ("chief", "master")  # the controller's Master replica is TensorFlow's chief


@dataclasses.dataclass(frozen=True)
class Task:
    type: str
    index: int
    cluster: dict  # job name -> addresses; empty when this process trains alone

    @property
    def name(self):
        return f"{self.type}-{self.index}"

    @property
    def is_parameter_server(self):
        return self.type == "ps"

    @property
    def is_chief(self):
        if any(job in self.cluster for job in CHIEF_TYPES):
            return self.type in CHIEF_TYPES
        return self.type != "ps" and self.index == 0

    @property
    def device(self):
        return f"/job:{self.type}/task:{self.index}"


def task_from_environment():
    """TF_CONFIG's task, or one that trains alone; raises UserError when TF_CONFIG makes no sense."""
    text = os.environ.get("TF_CONFIG", "")
    if not text:
        return Task("master", 0, {})
    try:
        config = json.loads(text)
        task = Task(str(config["task"]["type"]).lower(), int(config["task"]["index"]), dict(config["cluster"]))
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"TF_CONFIG is not what a TFJob sets ({error!r}): {text}") from error
    if task.type not in task.cluster:
        raise UserError(f"TF_CONFIG names no address for this task, {task.name}: {text}")
    if task.type == "evaluator":
        raise UserError("this program has no evaluator: the chief tests the model itself")
    if "ps" not in task.cluster and sum(len(hosts) for hosts in task.cluster.values()) > 1:
        raise UserError("TF_CONFIG has several tasks but no ps: nobody would hold the variables")
    return task


def describe(task):
    if not task.cluster:
        return "no TF_CONFIG, so this process trains alone"
    return "ClusterSpec " + json.dumps(task.cluster, sort_keys=True)
