"""The task `evaluate`: the likelihood of a saved model."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from runner.config.data.datasets import (
    dataset_identity,
    dataset_settings,
    is_file,
    load_dataset,
    unknown_files,
)
from runner.config.data.known_files import verifies
from runner.execution.errors import UserError
from runner.models.identity import class_of, metadata_of, model_file, model_identity
from runner.models.named_model import target_in
from runner.store.run_files import Measurement, RunResult
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store
from runner.tasks.likelihood.ais_settings import ais_numbers, ais_settings, annealing_identity
from runner.tasks.likelihood.bracketing import warn_of_bracket
from runner.tasks.task import Parts, PerSeedTask
from targets.datasets.files.user_paths import user_path

if TYPE_CHECKING:
    from runner.problem.problems import Problems
    from targets.datasets.dataset import Dataset
    from targets.target import Target


class Evaluate(PerSeedTask):
    """Measures the likelihood of the model at `model`; the run's steps are the temperatures.

    Its evaluations are those of one chain of each annealing together, with the draws before the reverse one.
    """

    reads_model = True

    def check_values(self, config: DictConfig) -> None:
        model_file(config.model)
        ais_numbers(config)
        if config.task.dataset is not None:
            dataset_settings(config.task.dataset, None, "task.dataset")

    def check(self, config: DictConfig, problems: Problems) -> None:
        from runner.tasks.likelihood.model_likelihood import check_likelihood

        target, _, _ = problems.shared(subject, config)
        check_likelihood(target, ais_settings(config))

    def directions(self, config: DictConfig) -> Mapping[str, str]:
        return {"log_likelihood": "max"}

    def identity(self, config: DictConfig, parts: Parts) -> Parts:
        """The task, the model and its data set: no target, sampler or metric is read."""
        path = model_file(config.model)
        task = annealing_identity(parts["task"], class_of(path))
        name = task.get("dataset")
        if name is not None:
            binarised = dataset_identity(name, _binarisation(name, metadata_of(path)), "task.dataset")
            task = {**task, "dataset": {**binarised, **unknown_files(config, name, "task.dataset")}}
        return {"task": task, "model": model_identity(path)}

    def target_read(self, config: DictConfig) -> dict[str, Any]:
        return target_in(model_file(config.model))

    def reads_sampler(self, config: DictConfig) -> bool:
        return False

    def why_left_out(self, config: DictConfig, key: str) -> str:
        return f"task=evaluate has its target from model={config.model}"

    def why_unread(self, config: DictConfig, key: str) -> str | None:
        return None if key.startswith("task.") else "task=evaluate draws nothing with the sampler"

    def run(
        self, config: DictConfig, seed: int, store: Store, folder: RunFolder, problems: Problems
    ) -> RunResult:
        from runner.tasks.likelihood.model_likelihood import likelihood

        started = time.monotonic()
        target, metadata, data = problems.shared(subject, config)
        settings = ais_settings(config)
        found = likelihood(target, data, settings, seed, config, folder.checkpoint)
        warn_of_bracket(found.values, seed)
        seconds = found.earlier_seconds + time.monotonic() - started
        sampler = (metadata.get("recipe") or {}).get("sampler", {})
        name = str(metadata.get("architecture", type(target).__name__))
        return RunResult(
            target=f"{name.rsplit('.', 1)[-1]}/{data.name}",
            sampler=str(sampler.get("name") or str(sampler.get("_target_", "")).rsplit(".", 1)[-1]),
            seed=seed,
            records=[Measurement(len(settings.betas) - 1, found.evaluations, seconds, found.values)],
            wall_seconds=seconds,
            exact=True,  # other transitions are refused, and nothing is drawn by the model's own sampler
            notes=[data.note] if data.note else [],
            model=str(config.model),
        )


def subject(config: DictConfig) -> tuple[Target, dict[str, Any], Dataset]:
    """The saved model, the metadata in its file, and the data set that it is measured on.

    Raises:
        UserError: if one of them cannot be read, or they do not fit each other.
    """
    from runner.models.model_files import load_model
    from runner.models.trained_model import check_size, moved_images

    path = model_file(config.model)
    target, metadata = load_model(path)
    name = config.task.dataset or metadata.get("dataset")
    if name is None:
        raise UserError(f"The model {path} does not name its data set: give task.dataset=NAME.")
    binarisation = _binarisation(name, metadata)
    with moved_images(path, name, "task.dataset") if config.task.dataset is None else nullcontext():
        dataset_settings(name, binarisation, "task.dataset")
        data = load_dataset(name, binarisation, config.data.root, verifies(config))
    fingerprint = metadata.get("data_fingerprint")
    if config.task.dataset is None and fingerprint not in (None, data.fingerprint()):
        raise UserError(
            f"The model {path} was trained on other images than the data set {name} holds now; "
            f"task.dataset={name} measures it on these."
        )
    check_size(target, data, f"task.dataset={name}", path)
    return target, metadata, data


def _binarisation(name: Any, metadata: Mapping[str, Any]) -> Any:
    """The model's own where `name` is the data set that it learned from; None for another set."""
    own = metadata.get("dataset")
    return metadata.get("binarisation") if own is not None and _place(name) == _place(own) else None


def _place(name: Any) -> str:
    """A data set as it is named; a user's own file by where it is."""
    return str(user_path(name).resolve()) if is_file(name) else str(name)
