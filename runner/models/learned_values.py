"""The values of a learned target that are known without torch, checked before it is imported."""

from __future__ import annotations

from omegaconf import DictConfig

from runner.config.data.datasets import dataset_settings
from runner.config.key_group import group, node
from runner.models.identity import tuning_effort
from runner.models.training_settings import training_settings


def check_data_set(config: DictConfig) -> None:
    """Refuses the name of a data set that there is not, and a binarisation; nothing without a `training`.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    target = node(config, "target")
    if "training" in target and target.get("model") is None:
        dataset_settings(target.get("dataset"), target.get("binarisation"))


def check_training(config: DictConfig) -> None:
    """Refuses settings of the target's own training, and its data set's name.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    target, key = node(config, "target"), "target.training"
    if "training" in target and target.get("model") is None:
        training_settings(group(target["training"] or {}, key), key, tuning_effort(config))
    check_data_set(config)
