"""The task `sample` as the runner sees it; what needs torch is imported when it is used."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from runner.config.run_settings import UNLISTED, without_values
from runner.models.learned_values import check_training
from runner.problem.sample_settings import sample_settings
from runner.tasks.runs import Runs, Trial
from runner.tasks.task import Parts, Task, alternatives, span, spanned

if TYPE_CHECKING:
    from runner.problem.problems import Problems
    from runner.store.run_store import Store


class Sample(Task):
    """Runs a sampler on a target and measures its draws; seeds share a batch where the target allows it."""

    uses_target = True
    own_streams = True
    reads_metric = True

    def check_values(self, config: DictConfig) -> None:
        sample_settings(config)
        check_training(config)

    def check(self, config: DictConfig, problems: Problems) -> None:
        problems.check(config)

    def measured(self, config: DictConfig, problems: Problems) -> Collection[str]:
        return problems.of(config).suite_before().metrics

    def values_of(self, config: DictConfig, problems: Problems, metric: str) -> Collection[str] | None:
        from runner.problem.trials import value_names

        return value_names(problems.of(config), metric)

    def identity(self, config: DictConfig, parts: Parts) -> Parts:
        """Without the keys that earlier versions had not, where their values change nothing (`UNLISTED`)."""
        return super().identity(config, {**parts, "task": without_values(parts["task"], UNLISTED)})

    def work(self, config: DictConfig) -> int:
        """Steps times chains."""
        return int(config.task.steps) * int(config.task.chains)

    def compilable_steps(self, config: DictConfig) -> int:
        return int(config.task.steps)

    def evaluations(self, config: DictConfig, summary: Mapping[str, Any]) -> float:
        return float(summary["evaluations"]) * int(config.task.chains)

    def trial(self, config: DictConfig, seeds: Sequence[int]) -> Trial:
        from runner.tasks.sampled_runs import step_trial

        return step_trial(config, seeds, self.work(config))

    def budget(self, configs: Sequence[DictConfig]) -> str:
        tasks = [config.task for config in configs]
        return (
            f"{spanned((task.chains for task in tasks), 'chain')}, "
            f"{spanned((task.steps for task in tasks), 'step')} of which "
            f"{span(int(task.burn_in) for task in tasks)} are burn-in, start: "
            f"{alternatives(task.start for task in tasks)}"
        )

    def start(self, config: DictConfig, store: Store, problems: Problems) -> Runs:
        from runner.problem.cached_reference_sample import with_trained_target
        from runner.problem.tuning_cache import tuned
        from runner.tasks.sampled_runs import SampledRuns

        problem, tuning = tuned(with_trained_target(problems.of(config), store), store)
        return SampledRuns(problem.prepared(), tuning)
