"""The task `learn` as the runner sees it; what needs torch is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from omegaconf import DictConfig, OmegaConf

from runner.config.construct import class_at
from runner.config.key_group import node
from runner.execution.errors import UserError
from runner.models.identity import NOT_LEARNED, learned_identity, leaves_open, tuning_effort
from runner.models.learned_values import check_data_set
from runner.models.training_settings import TrainingSettings, essential, training_settings
from runner.tasks.likelihood.ais_settings import ais_numbers, annealing_identity
from runner.tasks.runs import Trial
from runner.tasks.task import Parts, PerSeedTask, alternatives, span, spanned

if TYPE_CHECKING:
    from runner.models.recipe import Recipe
    from runner.problem.problems import Problems
    from runner.store.run_files import RunResult
    from runner.store.run_folder import RunFolder
    from runner.store.run_store import Store


class Learn(PerSeedTask):
    """Trains a model with the sampler in the negative phase, and measures the likelihood of data under it."""

    spends: ClassVar[Mapping[str, str]] = {"seconds": "training", "ais_seconds": "annealing"}

    def check_values(self, config: DictConfig) -> None:
        _settings(config)
        ais_numbers(config)
        check_data_set(config)

    def check(self, config: DictConfig, problems: Problems) -> None:
        if config.target.get("model") is not None:
            raise UserError(
                f"target.model={config.target.model} is for sampling; task=learn trains a model of its own."
            )
        from runner.tasks.learn import check_learning

        problems.shared(check_learning, config)

    def directions(self, config: DictConfig) -> Mapping[str, str]:
        validated = {} if config.task.validate_every is None else {"best_validation_log_likelihood": "max"}
        return {"log_likelihood": "max", **validated}

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
        from targets.target import Target

        model = class_at(target, "target", (Target,))
        task = annealing_identity(essential(parts["task"]), model)
        return {"target": learned_identity(target), "sampler": parts["sampler"], "task": task}

    def target_read(self, config: DictConfig) -> dict[str, Any]:
        return {key: value for key, value in node(config, "target").items() if key not in NOT_LEARNED}

    def why_left_out(self, config: DictConfig, key: str) -> str:
        """Names the key of the task's own that is read instead, where there is one."""
        name = key.removeprefix("target.training.")
        own = name if name.split(".", 1)[0] == "sampler" else f"task.{name}"
        own = "seed" if key == "target.model_seed" else own
        reads = own != f"task.{key}" and OmegaConf.select(config, own) is not None
        return f"task=learn {f'reads {own}' if reads else 'does not read it'}"

    def why_unread(self, config: DictConfig, key: str) -> str | None:
        """Chains that are as many as the images of a batch, and when to tune what leaves nothing to tune."""
        if key == "task.chains" and config.task.method == "cd":
            return "task.method=cd has a chain for each image of a batch"
        if key == "task.tune_every" and not leaves_open(node(config, "sampler")):
            return f"sampler={config.sampler.get('name')} leaves nothing to tune"
        return None

    def work(self, config: DictConfig) -> int:
        """Of a run whose model is trained: temperatures times chains of all repeats."""
        ais = config.task.ais
        return _number(ais.temperatures) * int(ais.chains) * int(ais.repeats)

    def compilable_steps(self, config: DictConfig) -> int:
        """Those of the chains of the training; annealings are not compiled."""
        return _settings(config).steps

    def run_seconds(self, summary: Mapping[str, Any]) -> float:
        """Seconds of annealing."""
        return float(summary["metrics"].get("ais_seconds") or 0.0)

    def recipes(self, config: DictConfig, seeds: Sequence[int]) -> list[Recipe]:
        """One of each seed: runs that differ in their annealing alone share it."""
        from runner.models.recipe import recipe_of

        return [recipe_of(config, seed) for seed in seeds]

    def trial(self, config: DictConfig, seeds: Sequence[int]) -> Trial:
        from runner.tasks.learning_trial import annealing_seconds

        return Trial(annealing_seconds(config, next(iter(seeds))))

    def budget(self, configs: Sequence[DictConfig]) -> str:
        tasks = [config.task for config in configs]
        repeated = [config.task for config in configs if not _by_block_gibbs(config)]
        buffers = [task.buffer for task in tasks if task.get("buffer") is not None]
        taken = f", chains taken from a buffer of {spanned(buffers, 'state')}" if buffers else ""
        times = f", {spanned((task.ais.repeats for task in repeated), 'time')}" if repeated else ""
        return (
            f"{alternatives(str(task.method).upper() for task in tasks)} with "
            f"{spanned((_chains(task) for task in tasks), 'chain')}, "
            f"{spanned((task.iterations for task in tasks), 'iteration')} of "
            f"{spanned((task.cd_steps for task in tasks), 'step')} in batches of "
            f"{span(task.batch for task in tasks)}{taken}; AIS with "
            f"{spanned((_number(task.ais.temperatures) for task in tasks), 'temperature')} and "
            f"{spanned((task.ais.chains for task in tasks), 'chain')}{times}"
        )

    def run(
        self, config: DictConfig, seed: int, store: Store, folder: RunFolder, problems: Problems
    ) -> RunResult:
        """Trains the model of `seed` unless it is cached, and measures its likelihood.

        The run's steps are the iterations; what was measured during the training are its records.

        Raises:
            RunError: if the training fails; the last good checkpoint stays.
        """
        from runner.tasks.learn import learned_run

        return learned_run(config, seed, store, folder)


def _settings(config: DictConfig) -> TrainingSettings:
    return training_settings(node(config, "task"), "task", tuning_effort(config))


def _by_block_gibbs(config: DictConfig) -> bool:
    from targets.target import Target

    return bool(getattr(class_at(config.target, "target", (Target,)), "block_gibbs", False))


def _chains(task: Any) -> Any:
    """How many chains a training has: those of CD start from the images of a batch, one from each."""
    return task.batch if task.method == "cd" else task.chains


def _number(temperatures: Any) -> int:
    """How many inverse temperatures: a number, or the list of them."""
    return int(temperatures) if isinstance(temperatures, (int, float)) else len(temperatures)
