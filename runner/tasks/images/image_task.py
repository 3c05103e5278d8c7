"""What the tasks on images share: which images, so many of a sampler's or of the training images."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, open_dict

from runner.config.construct import errors_at
from runner.config.data.datasets import load_dataset
from runner.config.data.known_files import verifies
from runner.config.key_group import node
from runner.execution.errors import UserError
from runner.models.learned_values import check_training
from runner.tasks.runs import Trial
from runner.tasks.task import PerSeedTask, alternatives, span, spanned
from targets.checks import one_of, whole_number

if TYPE_CHECKING:
    from runner.problem.problems import Problems
    from targets.datasets.dataset import Dataset

SAMPLER, TRAINING = "sampler", "training"

OF_SAMPLING = ("task.chains", "task.thinning", "task.burn_in", "task.start")
OF_SAMPLER = ("sampler.", "tempering.")
"""Keys, and beginnings of keys, that no run on training images reads."""

METRICS = {
    "acceptance": {"_target_": "metrics.mixing.step_means.Acceptance"},
    "jump": {"_target_": "metrics.mixing.step_means.Jump"},
}
"""What is measured while images are made."""


@dataclass(frozen=True)
class ImageSettings:
    """Which images.

    Attributes:
        images: ``sampler`` or ``training``.
        samples: how many.
        chains: of the sampler; each gives as many images, the last draw is cut where they are too many.
        thinning: steps between two images of a chain.
        burn_in: steps before the first `thinning` steps.
        start: as of the task `sample`.
    """

    images: str
    samples: int
    chains: int
    thinning: int
    burn_in: int
    start: str

    @property
    def draws(self) -> int:
        """Images of every chain."""
        return math.ceil(self.samples / self.chains)

    @property
    def steps(self) -> int:
        """Steps of every chain."""
        return self.burn_in + self.draws * self.thinning


def image_settings(config: DictConfig) -> ImageSettings:
    """The checked settings of the images of `config.task`.

    Raises:
        UserError: naming the key, the value given and what is allowed.
    """
    task = node(config, "task")
    with errors_at("task", task):
        return ImageSettings(
            images=one_of("images", task.get("images"), (SAMPLER, TRAINING)),
            samples=whole_number("samples", task.get("samples"), 2),
            chains=whole_number("chains", task.get("chains")),
            thinning=whole_number("thinning", task.get("thinning")),
            burn_in=whole_number("burn_in", task.get("burn_in"), 0),
            start=str(task.get("start")),
        )


def sampling(config: DictConfig) -> DictConfig:
    """The configuration of the task `sample` that makes the images of `config`.

    Raises:
        UserError: if the settings are refused.
    """
    settings = image_settings(config)
    made = copy.deepcopy(config)
    made.compile = False  # these tasks have no compiled runs, and no ids for them
    with open_dict(made):
        made.task = {
            "name": "sample",
            "_target_": "runner.tasks.sample_task.Sample",
            "steps": settings.steps,
            "chains": settings.chains,
            "burn_in": settings.burn_in,
            "start": settings.start,
            "record": 0,
        }
        thinned = {
            "_target_": "metrics.statistics.thinned_draws.ThinnedDraws",
            "most": settings.draws,
            "burn_in": settings.burn_in,
            "steps": settings.steps,
        }
        made.metric = {**METRICS, "thinned_draws": thinned, "_optional_": list(METRICS)}
    return made


def data_of_target(config: DictConfig) -> tuple[Dataset, str, str | None]:
    """The data set that the learned target of `config` is of, its name and its binarisation.

    Raises:
        UserError: if the target did not learn images, or they cannot be had.
    """
    from runner.models.recipe import is_learned, recipe_of
    from runner.models.trained_model import data_learned, load_named

    task = config.task.name
    if not is_learned(config):
        raise UserError(
            f"task={task} needs a target that learned images, such as rbm; "
            f"target={config.target.get('name')} did not."
        )
    if config.target.get("model") is not None:
        model = load_named(config)
        data = data_learned(model, config)
        name, binarisation = model.metadata["dataset"], model.metadata.get("binarisation")
    else:
        recipe = recipe_of(config)
        name, binarisation = recipe.dataset, recipe.binarisation
        data = load_dataset(name, binarisation, config.data.root, verifies(config))
    settings = image_settings(config)
    if settings.images == TRAINING and settings.samples > len(data.train):
        raise UserError(
            f"task.samples must not exceed the {len(data.train)} training images of {data.name}, "
            f"{settings.samples} was given."
        )
    return data, str(name), binarisation


class ImageTask(PerSeedTask):
    """A task that works on images of a sampler; its time is told as that of making them."""

    uses_target = True

    @abstractmethod
    def check_settings(self, config: DictConfig) -> None:
        """Refuses settings of what is done with the images.

        Raises:
            UserError: naming what is refused.
        """

    def check_values(self, config: DictConfig) -> None:
        image_settings(config)
        check_training(config)

    def check(self, config: DictConfig, problems: Problems) -> None:
        self.check_settings(config)
        problems.check(sampling(config))

    def work(self, config: DictConfig) -> int:
        """Steps times chains of the sampler."""
        settings = image_settings(config)
        return settings.steps * settings.chains

    def reads_sampler(self, config: DictConfig) -> bool:
        return bool(config.task.images != TRAINING)

    def why_unread(self, config: DictConfig, key: str) -> str | None:
        """What makes a sampler's images."""
        unread = key in OF_SAMPLING or key.startswith(OF_SAMPLER)
        return f"only task.images={SAMPLER} reads it" if unread and not self.reads_sampler(config) else None

    def not_timed(self, config: DictConfig) -> str:
        return "the fits of networks to images"

    def run_seconds(self, summary: Mapping[str, Any]) -> float:
        """Seconds of making the images."""
        return float(summary["seconds"]) - float(summary["metrics"].get("fitting_seconds") or 0.0)

    def trial(self, config: DictConfig, seeds: Sequence[int]) -> Trial:
        if not self.reads_sampler(config):
            return Trial()
        from runner.tasks.sampled_runs import step_trial

        # How many evaluations a finished run of these took is not known.
        return step_trial(sampling(config), seeds, self.work(config))._replace(evaluations=0.0)

    def budget(self, configs: Sequence[DictConfig]) -> str:
        tasks = [config.task for config in configs]
        every = spanned((int(task.thinning) for task in tasks), "step")
        return (
            f"{spanned((task.samples for task in tasks), 'image')} of "
            f"{spanned((task.chains for task in tasks), 'chain')}, one every "
            f"{'step' if every == '1 step' else every} after "
            f"{span(int(task.burn_in) for task in tasks)} of burn-in, start: "
            f"{alternatives(task.start for task in tasks)}"
        )
