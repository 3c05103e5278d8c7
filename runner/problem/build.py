"""From a configuration to a problem that can be run: target, kernel, settings and metrics, all checked."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import torch
from omegaconf import DictConfig, OmegaConf
from torch import Tensor

from metrics.metric import Context, Metric, UnsupportedMetric
from metrics.statistics.kept_draws import KeptDraws
from metrics.suite import MetricSuite
from runner.config.construct import check_arguments, class_at, construct
from runner.config.construct_sampler import construct_sampler
from runner.config.data.known_files import verifies
from runner.config.data.tabular import notes, target_name, with_rows
from runner.config.key_group import node
from runner.config.kinds import as_annotated, parameter_hints
from runner.config.values import threads
from runner.execution.compiling.choice import compiles
from runner.execution.devices import floating_point, present_device
from runner.execution.errors import UnservedError, UserError, one_sentence
from runner.execution.memory.memory_errors import failure_or_memory
from runner.integrity.own_code import is_ours
from runner.models.learned_target import blueprint
from runner.models.recipe import is_learned
from runner.problem.sample_settings import SampleSettings, sample_settings
from samplers.compiling.fastest_kernel import fastest_kernel
from samplers.kernel import Kernel
from samplers.tuning.tunable import Tunable, fixed
from targets.randomness import Streams
from targets.target import ExactlySampled, HasModes, Target
from targets.trial.failures import is_refusal
from targets.trial.target_trial import not_set_up

CHECKED_CHAINS = 1_000
"""Chains at most for which metrics are built to be checked, so that their sums need little memory."""


@dataclass(frozen=True)
class Problem:
    """What a job computes: `kernel` on `target` as `settings` say, measured by the metrics of `config`.

    Attributes:
        tunable: what tunes the kernel, where it leaves hyperparameters open; `kernel` is then an example of
            it, which says what is known before the tuning and is not for sampling.
        notes: footnotes to the numbers, such as that a data set is a subset.
        model: the file of the target's weights, if they were learned.
        target_name: what the target is called in results, where the configuration does not know it.
        beside: values of the target that are written beside those of the metrics.
        image_shape: height and width of the images that the target learned; None where that is not known.
    """

    config: DictConfig
    target: Target
    kernel: Kernel
    settings: SampleSettings
    device: torch.device
    tunable: Tunable | None = None
    notes: tuple[str, ...] = ()
    model: str | None = None
    target_name: str | None = None
    beside: Mapping[str, float] = field(default_factory=dict)
    image_shape: tuple[int, int] | None = None

    @property
    def compiled(self) -> bool | str:
        """Whether steps are compiled; ``auto``: where that fails they are not."""
        return compiles(self.config.compile, self.device.type, self.settings.steps)

    def with_kernel(self, kernel: Kernel) -> Problem:
        """The same problem with another kernel, one of numbers, brought to the target's dtype and device."""
        return replace(self, kernel=kernel.to(self.target.like()), tunable=None)

    def prepared(self) -> Problem:
        """The same problem with a kernel of the same transition probabilities, the fastest on its target."""
        assert self.tunable is None, "the kernel is not tuned yet"
        kernel = fastest_kernel(self.kernel, self.target, beta(self), compiled=bool(self.compiled))
        return replace(self, kernel=kernel)

    def suite(self, seeds: Sequence[int], chains: int | None = None, only: str | None = None) -> MetricSuite:
        """The metrics of a batch of runs with these seeds, before any draw; with `only`, that one alone.

        Raises:
            UserError: if a metric cannot be built, or the target or the kernel cannot serve it.
        """
        chosen = node(self.config, "metric")
        optional = chosen.pop("_optional_", None) or []
        if not isinstance(optional, list):
            raise UserError(f"metric._optional_ must be null or a list of names, {optional!r} was given.")
        names = chosen if only is None else [only]
        factories = {name: partial(_metric, chosen[name], name) for name in names}
        context = Context(
            self.target,
            self.kernel,
            seeds=len(seeds),
            chains=chains or self.settings.chains,
            device=self.device,
            seed_values=tuple(seeds),
            series_steps=min(self.settings.series, self.settings.steps),
        )
        try:
            suite = MetricSuite(context, factories, optional=optional)
        except UnsupportedMetric as unmet:
            raise UnservedError(f"metric: {one_sentence(unmet)}.") from unmet
        if self.settings.keep:
            self._keep_draws(context)
        return suite

    def suite_before(self) -> MetricSuite:
        """The metrics of one run as they are checked before its work, for no more chains than is cheap.

        Raises:
            UserError: as `suite`.
        """
        return self.suite([0], chains=min(self.settings.chains, CHECKED_CHAINS))

    def _keep_draws(self, context: Context) -> None:
        """Has the draws of the batch kept, beside its metrics.

        Raises:
            UserError: if most states of the chains are no draws.
        """
        keep = self.settings.keep
        if not self.kernel.draws_target:
            raise UserError(
                f"task.keep={keep} needs draws from the target; the states of {type(self.kernel).__name__} "
                "are no such draws, since they depend on its schedule."
            )
        if self.kernel.has_levels:
            raise UserError(
                f"task.keep={keep} needs chains whose states are all draws from the target; those of "
                f"{type(self.kernel).__name__} move between temperatures."
            )
        context.statistic(KeptDraws, most=keep, burn_in=self.settings.burn_in, steps=self.settings.steps)

    def start(self, shape: Sequence[int], seeds: Sequence[int]) -> Tensor:
        """Starting states ``(*shape, seeds, chains, *event_shape)``, as ``task.start`` says.

        Random starts are drawn on the CPU, so that they are the same wherever the run is computed.
        """
        full = (*shape, len(seeds), self.settings.chains)
        like = self.target.like()
        if self.settings.start == "one_mode":
            mode = cast(HasModes, self.target).modes[0].to(like)
            return mode.expand(*full, *self.target.space.event_shape).clone()
        there = self.target if self.device.type == "cpu" else copy.deepcopy(self.target).to("cpu")
        streams = Streams(seeds, "start", "cpu")
        if self.settings.start == "exact":
            return cast(ExactlySampled, there).sample(full, streams).to(like)
        if self.settings.start == "uniform":
            return there.space.initial(full, streams, like=there.like()).to(like)
        return there.initial(full, streams).to(like)


def build(config: DictConfig, target: Target | None = None) -> Problem:
    """The problem that `config` describes, on `target` where that has been built already.

    Raises:
        UserError: for a class that cannot be imported or built, or a setting that is not allowed.
    """
    torch.set_num_threads(threads(config))
    target = built_target(config) if target is None else target
    sampler = build_kernel(config)
    settings = sample_settings(config, target)
    return Problem(
        config,
        target,
        fixed(sampler).to(target.like()),
        settings,
        torch.device(present_device(config.device)),
        tunable=sampler if isinstance(sampler, Tunable) else None,
        notes=notes(target),
        target_name=target_name(node(config, "target")),
    )


def built_target(config: DictConfig) -> Target:
    """The target of `config` on its device, in its precision, its parameters fixed.

    Raises:
        UserError: if it cannot be built or is no `Target`.
    """
    device, dtype = torch.device(present_device(config.device)), floating_point(config.dtype)
    torch.set_num_threads(threads(config))
    return build_target(config).to(device=device, dtype=dtype).requires_grad_(False)


def label(config: DictConfig, group: str) -> str:
    """What the option in force of `group` is called in results: its `name`, or else its class."""
    described = config[group]
    name = str(described.get("name") or str(described.get("_target_")).rsplit(".", 1)[-1])
    return f"{name}/{described.dataset}" if group == "target" and is_learned(config) else name


def build_target(config: DictConfig) -> Target:
    """The target of `config`, on the CPU.

    Raises:
        UserError: if it cannot be built or is no `Target`.
    """
    if is_learned(config):
        return blueprint(config)
    described = node(config, "target")
    with_data = with_rows(described, OmegaConf.select(config, "data.root"), verifies(config))
    target: Target = construct(with_data, "target", (Target,))
    if lacking := not_set_up(target):
        raise UserError(f"The target {described['_target_']} {lacking}.")
    return target


def build_kernel(config: DictConfig) -> Kernel | Tunable:
    """The kernel of `config`, or what tunes it where it leaves hyperparameters open.

    Raises:
        UserError: if it cannot be built or is no `Kernel`.
    """
    return construct_sampler(node(config, "sampler"), "sampler")


def beta(problem: Problem) -> Tensor:
    """The inverse temperature 1 of the target itself, a scalar."""
    return torch.ones((), dtype=problem.target.like().dtype, device=problem.device)


def _metric(options: Any, name: str, context: Context) -> Any:
    """The metric `name` as its configuration node describes it."""
    key = f"metric.{name}"
    if not isinstance(options, dict):
        raise UserError(f"{key} must be a group of keys with a _target_, {options!r} was given.")
    cls = class_at(options, key, (Metric,))
    given = {argument: value for argument, value in options.items() if argument not in ("_target_", "name")}
    check_arguments(cls, given, key, str(options["_target_"]), 1)
    for argument, hint in parameter_hints(cls, cls).items():
        if argument in given and not is_ours(cls):
            given[argument] = as_annotated(given[argument], hint, f"{key}.{argument}")
    try:
        return cls(context, **given)
    except (UnsupportedMetric, UserError):
        raise
    except Exception as error:
        if is_refusal(error) or (is_ours(cls) and isinstance(error, ValueError)):
            raise UserError(f"{key}: {one_sentence(error)}.") from error
        if is_ours(cls):
            raise
        raise UserError(f"{key} cannot be built: {failure_or_memory(error)}.") from error
