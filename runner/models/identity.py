"""What a run is: a hash of everything in its configuration that can change its numbers."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from runner.config import tsplib_files
from runner.config.datasets import file_digest
from runner.config.datasets import identifying as identifying_data
from runner.execution.errors import UserError
from runner.store.digest import PARTS, SCHEMA, digest


def identifying(config: DictConfig, device: str) -> dict[str, Any]:
    """The resolved part of `config` that can change numbers, without the seed.

    What a task does not use is no part of it: `learn` measures with its own means and has its own
    training, `evaluate` knows nothing but a file, `spectral_gap` draws no samples to measure.

    Args:
        device: type of the device that the run is computed on, ``cpu`` or ``cuda``.

    Raises:
        UserError: if a saved model or a data set that it names is not there, or nothing can be learned.
    """
    parts: dict[str, Any] = {part: OmegaConf.to_container(config[part], resolve=True) for part in PARTS}
    task = parts["task"].get("name") if isinstance(parts["task"], dict) else None
    if task == "spectral_gap":
        del parts["metric"]
        if parts["task"].get("method") != "kernel":
            del parts["sampler"]
    if task == "evaluate":
        path = model_file(config.model)
        rbm = _described(path, file_digest(path))[1]
        parts = {"task": _as_read(parts["task"], rbm), "model": weights_of(path)}
        if config.task.dataset is not None:
            parts["task"]["dataset"] = identifying_data(config.task.dataset, key="task.dataset")
    elif task == "learn":
        if "training" not in parts["target"]:
            raise UserError(
                "task=learn needs a target that can be learned, such as rbm or resnet_ebm; "
                f"target={parts['target'].get('name')} cannot."
            )
        del parts["metric"]
        # Here and below torch comes with the import: a typing error must not wait for it.
        from runner.models.training.training_settings import essential

        rbm = parts["target"].get("_target_") == "targets.models.rbm.RBM"
        parts["task"] = _as_read(essential(parts["task"]), rbm)
        learned = {key: parts["target"][key] for key in parts["target"] if key not in NOT_LEARNED}
        parts["target"] = _with_data(learned)
    elif isinstance(parts["target"], dict) and "training" in parts["target"]:
        parts["target"] = _with_data(parts["target"])
    elif isinstance(parts["target"], dict) and tsplib_files.names_a_file(parts["target"]):
        parts["target"] = tsplib_files.identifying(parts["target"])
    return {"schema": SCHEMA, **parts, "device": device, "dtype": config.dtype}


NOT_LEARNED = ("model", "model_seed", "training", "ground_truth")
"""Keys of a learned target that `task=learn` does not read: its own settings and seed stand for them."""


UNREAD_BY_RBM = ("sampler", "repeats")
"""Keys of `task.ais` that the likelihood of an RBM does not read: its annealing moves by block Gibbs."""


def _as_read(task: dict[str, Any], rbm: bool) -> dict[str, Any]:
    """The task `learn` or `evaluate` with what it reads where the model is an RBM, or is none."""
    ais = task.get("ais")
    if not rbm or not isinstance(ais, dict):
        return task
    return {**task, "ais": {key: value for key, value in ais.items() if key not in UNREAD_BY_RBM}}


def _with_data(target: dict[str, Any]) -> dict[str, Any]:
    """A learned target with what its data set is, or with the content of its file in place of everything."""
    if target.get("model") is not None:
        own: dict[str, Any] = {
            key: target[key] for key in ("name", "_target_", "ground_truth") if key in target
        }
        model = weights_of(model_file(target["model"], "target.model"))
        dataset = identifying_data(target.get("dataset"), target.get("binarisation"))
        return {**own, "model": model, "dataset": dataset}
    read = {key: value for key, value in target.items() if key != "binarisation"}
    return {**read, "dataset": identifying_data(target.get("dataset"), target.get("binarisation"))}


def weights_of(path: Path) -> dict[str, str | None]:
    """What a saved model is: a digest of its weights, and of the images that it learned from.

    Not of the file, in which the same model can be written in many ways.

    Raises:
        UserError: if it cannot be read.
    """
    return _described(path, file_digest(path))[0]


@functools.cache
def _described(path: Path, content: str) -> tuple[dict[str, str | None], bool]:
    """What the model in a file is, and whether it is an RBM."""
    from runner.models.model_files import load_model, model_digest
    from targets.models.rbm import RBM

    model, metadata = load_model(path)
    weights = {"weights": model_digest(model), "data": metadata.get("data_fingerprint")}
    return weights, isinstance(model, RBM)


def model_file(given: Any, key: str = "model") -> Path:
    """The file of a saved model; of a folder, the ``model.safetensors`` in it.

    Raises:
        UserError: if nothing is given, or nothing is there.
    """
    if given is None:
        raise UserError(f"task=evaluate needs a saved model: {key}=PATH.")
    path = Path(str(given))
    path = path / "model.safetensors" if path.is_dir() else path
    if not path.is_file():
        raise UserError(
            f"{key} must be a saved model or the folder of one, '{given}' was given, which is not there."
        )
    return path


def run_ids(config: DictConfig, device: str, seeds: Sequence[int]) -> dict[int, str]:
    """The id of the run of each seed."""
    content = identifying(config, device)
    return {seed: digest({**content, "seed": seed}) for seed in seeds}


def tuning_id(config: DictConfig, device: str) -> str:
    """Identity of a tuned sampler: what can change its hyperparameters, and no more."""
    content = identifying(config, device)
    target = {key: value for key, value in content["target"].items() if key != "ground_truth"}
    own = {key: content[key] for key in ("schema", "sampler", "device", "dtype")}
    return digest({**own, "target": target})
