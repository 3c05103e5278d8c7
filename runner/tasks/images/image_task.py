"""What the tasks share that work on a sampler's images."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from omegaconf import DictConfig

from runner.problem.problems import Problems
from runner.tasks.images.image_settings import image_settings, sampling
from runner.tasks.phrases import alternatives, span
from runner.tasks.sample_task import step_seconds
from runner.tasks.task import PerSeedTask


class ImageTask(PerSeedTask):
    """A task that works on images of a sampler; its time is estimated as that of making them."""

    uses_target = True

    @abstractmethod
    def check_settings(self, config: DictConfig) -> None:
        """Refuses settings of what is done with the images.

        Raises:
            UserError: naming what is refused.
        """

    def check(self, config: DictConfig, problems: Problems) -> None:
        self.check_settings(config)
        problems.check(sampling(config))

    def work(self, config: DictConfig) -> int:
        """Steps times chains of the sampler."""
        settings = image_settings(config)
        return settings.steps * settings.chains

    def trial(self, config: DictConfig, seeds: Sequence[int]) -> tuple[float, float]:
        rate, tuning = step_seconds(sampling(config), seeds)
        return rate * self.work(config), tuning

    def budget(self, configs: Sequence[DictConfig]) -> str:
        tasks = [config.task for config in configs]
        return (
            f"{span(task.samples for task in tasks)} images of "
            f"{span(task.chains for task in tasks)} chains, one every "
            f"{span(int(task.thinning) for task in tasks)} steps after "
            f"{span(int(task.burn_in) for task in tasks)} of burn-in, start: "
            f"{alternatives(task.start for task in tasks)}"
        )
