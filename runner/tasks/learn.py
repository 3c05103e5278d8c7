"""The task `learn`: a model learned with a sampler, and the likelihood that it gives to data."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch
from omegaconf import DictConfig

from metrics.likelihood.target_log_partition import evenly
from runner.config.construct import located
from runner.execution.devices import floating_point
from runner.execution.errors import UserError, one_sentence
from runner.files.tensor_files import UnreadableTensorsError, read_tensors
from runner.models.identity import learned_identity
from runner.models.learned_target import trained
from runner.models.recipe import data_of, recipe_of, untrained
from runner.models.trained_model import SAMPLES_FILE, TrainedModel
from runner.models.training.negative_chains import check_draws
from runner.models.training.training_settings import essential
from runner.problem.build import build_kernel, label
from runner.problem.problems import Problems
from runner.store.array_files import DRAWS, IMAGES, MOST, binary_images, images_file
from runner.store.run_files import Measurement, RunResult
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store
from runner.tasks.learning_trial import learning_seconds
from runner.tasks.likelihood.ais_settings import ais_settings, annealing_identity
from runner.tasks.likelihood.model_likelihood import check_likelihood, likelihood
from runner.tasks.task import Parts, PerSeedTask, Trial, alternatives, span
from samplers.tuning.tunable import Tunable, fixed
from targets.datasets.dataset import Dataset
from targets.randomness import Streams
from targets.target import Target


class Learn(PerSeedTask):
    """Trains a model with the sampler in the negative phase, and measures the likelihood of data under it."""

    spends: ClassVar[Mapping[str, str]] = {"seconds": "training", "ais_seconds": "annealing"}

    def check(self, config: DictConfig, problems: Problems) -> None:
        if config.target.get("model") is not None:
            raise UserError(
                f"target.model={config.target.model} is for sampling; task=learn trains a model of its own."
            )
        problems.shared(check_learning, config)

    def identity(self, config: DictConfig, parts: Parts) -> Parts:
        """Without metrics, since the task has its own, and with its own training in place of the target's.

        Raises:
            UserError: if the target cannot be learned.
        """
        target = parts["target"]
        if "training" not in target:
            raise UserError(
                "task=learn needs a target that can be learned, such as rbm or resnet_ebm; "
                f"target={target.get('name')} cannot."
            )
        model = located(target, "target", (Target,))
        task = annealing_identity(essential(parts["task"]), model)
        return {"target": learned_identity(target), "sampler": parts["sampler"], "task": task}

    def work(self, config: DictConfig) -> int:
        """Iterations times steps of the sampler in each times chains."""
        return int(config.task.iterations) * int(config.task.cd_steps) * int(config.task.chains)

    def run_seconds(self, summary: Mapping[str, Any]) -> float:
        """Seconds of training, whichever run paid for it, and of annealing."""
        return float(summary["seconds"]) + float(summary["metrics"].get("ais_seconds") or 0.0)

    def trial(self, config: DictConfig, seeds: Sequence[int]) -> Trial:
        return Trial(learning_seconds(config, next(iter(seeds))))

    def budget(self, configs: Sequence[DictConfig]) -> str:
        tasks = [config.task for config in configs]
        repeated = [config.task for config in configs if not _by_block_gibbs(config)]
        buffers = [task.buffer for task in tasks if task.get("buffer") is not None]
        taken = f", chains taken from a buffer of {span(buffers)} states" if buffers else ""
        times = f", {span(task.ais.repeats for task in repeated)} times" if repeated else ""
        return (
            f"{alternatives(str(task.method).upper() for task in tasks)} with "
            f"{span(task.chains for task in tasks)} chains, "
            f"{span(task.iterations for task in tasks)} iterations of "
            f"{span(task.cd_steps for task in tasks)} steps in batches of "
            f"{span(task.batch for task in tasks)}{taken}; AIS with "
            f"{span(_number(task.ais.temperatures) for task in tasks)} temperatures and "
            f"{span(task.ais.chains for task in tasks)} chains{times}"
        )

    def run(
        self, config: DictConfig, seed: int, store: Store, folder: RunFolder, problems: Problems
    ) -> RunResult:
        """Trains the model of `seed` unless it is cached, and measures its likelihood.

        The run's steps are the iterations; what was measured during the training are its records.

        Raises:
            RunError: if the training fails; the last good checkpoint stays.
        """
        started = time.monotonic()
        recipe, settings = recipe_of(config, seed), ais_settings(config)
        model = trained(recipe, config, store)
        report, data = model.metadata, data_of(recipe, config)
        model.check_data(data)
        records = [
            Measurement(point["iteration"], point["evaluations"], point["seconds"], dict(point["values"]))
            for point in report["history"]
        ]
        values = likelihood(model.target, data, settings, seed, config, folder.checkpoint)
        last = records.pop() if records and records[-1].step == recipe.settings.iterations else None
        seconds, evaluations = float(report["seconds"]), int(report["evaluations"])
        seen = last.values if last is not None else {}
        records.append(Measurement(recipe.settings.iterations, evaluations, seconds, {**seen, **values}))
        sampler = build_kernel(config)
        return RunResult(
            target=label(config, "target"),
            sampler=label(config, "sampler"),
            seed=seed,
            records=records,
            wall_seconds=time.monotonic() - started,
            exact=bool(fixed(sampler).exact),
            axes=() if isinstance(sampler, Tunable) else sampler.axes,
            notes=model.notes,
            model=str(model.path),
            files=_pictures(model, data),
        )


def check_learning(config: DictConfig) -> None:
    """Tries what the task `learn` needs: its recipe, its data set, its kernel on the untrained model.

    Raises:
        UserError: naming what is refused.
    """
    settings = ais_settings(config)
    recipe = recipe_of(config, 0)
    data = data_of(recipe, config)
    target = untrained(recipe, data).to(dtype=floating_point(config.dtype)).requires_grad_(False)
    check_likelihood(target, settings)
    sampler = build_kernel(config)
    kernel = fixed(sampler).to(target.like())
    try:
        sampler.check(target)
        check_draws(kernel)
        if not isinstance(sampler, Tunable):
            theta = target.initial((*kernel.axes, 1, 2), Streams([0], "start"))
            kernel.init(target, theta, torch.ones((), dtype=theta.dtype))
    except ValueError as error:
        raise UserError(f"sampler: {one_sentence(error)}.") from error


def _by_block_gibbs(config: DictConfig) -> bool:
    return bool(getattr(located(config.target, "target", (Target,)), "block_gibbs", False))


def _number(temperatures: Any) -> int:
    """How many inverse temperatures: a number, or the list of them."""
    return int(temperatures) if isinstance(temperatures, (int, float)) else len(temperatures)


def _pictures(model: TrainedModel, data: Dataset) -> dict[str, bytes]:
    """Images of the last states of the training's chains, and test images."""
    # A set may be sorted by class.
    images = images_file(binary_images(evenly(data.test, MOST), data.shape))
    try:
        samples = read_tensors(model.path.parent / SAMPLES_FILE)[0]["samples"]
    except (UnreadableTensorsError, KeyError):
        return {IMAGES: images}  # older models have no samples beside them
    return {DRAWS: images_file(binary_images(samples, data.shape)), IMAGES: images}
