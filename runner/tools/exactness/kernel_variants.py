"""The samplers to be checked: all in ``conf/sampler``, at step sizes and ladders that cover their range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from runner.config.compose import compose_by_groups
from runner.config.construct import class_at
from runner.config.construct_sampler import construct_sampler
from runner.config.key_group import node
from runner.config.overrides import parse
from runner.sweep.jobs import requested
from samplers.hyperparameters import AUTO
from samplers.kernel import Kernel
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from samplers.tempering.swaps.swap_pairings import PAIRINGS
from samplers.tuning.tunable import Tunable

STEP_SIZES = (0.2, 1.0, 10.0)
RADII = (1.0, 1.5, 2.0)
LADDERS: dict[int, list[float]] = {2: [1.0, 0.4], 3: [1.0, 0.5, 0.0]}
RUNG_STEP_SIZES = {2: ([1.0, 1.0], [0.5, 4.0]), 3: ([1.0, 1.0, 1.0], [0.5, 1.5, 4.5])}
RUNG_RADII = {2: ([1.0, 2.0],), 3: ([1.0, 1.5, 2.0],)}

ALSO = {
    "gibbs": [["sampler.scan=systematic"]],
    "locally_balanced": [
        ["sampler.balancing_function=barker", "sampler.differences=gradient"],
        ["sampler.balancing_function=min", "sampler.sites=2"],
    ],
    "pas": [["sampler.replacement=true", "sampler.balancing_function=max"]],
    "positionwise_dmala": [["sampler.width=1"]],
    "swendsen_wang": [["sampler.colours=two"]],
}
"""Settings of our own samplers, besides their defaults, that are kernels of their own."""

SHORT_RUN = "task.steps=40"
"""So that a sampler whose cycle depends on the length of the run has few positions."""


@dataclass(frozen=True)
class KernelVariant:
    """A sampler at one setting.

    Attributes:
        name: of the sampler, with what makes it a kernel of its own; one row per name and space.
        sampler: the kernel, or what tunes it where its configuration leaves more open than the step size.
    """

    name: str
    sampler: Kernel | Tunable


def variants(arguments: Sequence[str]) -> Iterator[KernelVariant]:
    """All samplers, or the one that `arguments` choose; what cannot be built as configured is refused.

    Args:
        arguments: overrides as for a run; ``sampler=...`` or ``sampler._target_=...`` leaves one sampler.

    Raises:
        UserError: for an override that is refused, or a sampler that cannot be built.
    """
    chosen = any(_about(line, "sampler") for line in arguments)
    if chosen:
        yield from _of_configuration(arguments, "")
        return
    for name in requested(arguments, multirun=False).names.options("sampler"):
        yield from _of_configuration([*arguments, f"sampler={name}"], "")
        for more in ALSO.get(name, []):
            label = ", ".join(line.split(".", 1)[1] for line in more)
            yield from _of_configuration([*arguments, f"sampler={name}", *more], f" ({label})")


def _about(line: str, group: str) -> bool:
    key = parse([line])[0].key_or_group
    return key == group or key.startswith(f"{group}.")


def _of_configuration(arguments: Sequence[str], label: str) -> Iterator[KernelVariant]:
    given = list(arguments)
    if not any(_about(line, "task.steps") for line in given):
        given.append(SHORT_RUN)
    request = requested(given, multirun=False)
    lines = [*request.hydra, *request.plans[0].overrides]
    described = node(compose_by_groups(lines, request.names.groups), "sampler")
    described.setdefault("name", str(described.get("_target_")).rsplit(".", 1)[-1])
    cls = class_at(described, "sampler", (Kernel, Tunable))
    for name, values in _settings(cls, described):
        sampler = construct_sampler({**described, **values}, "sampler")
        yield KernelVariant(f"{described['name']}{label}{name}", sampler)


Settings = Iterator[tuple[str, dict[str, Any]]]
"""What is added to the sampler's name, and the values of its hyperparameters."""


def _settings(cls: Any, described: Mapping[str, Any]) -> Settings:
    if isinstance(cls, type) and issubclass(cls, ParallelTempering):
        return _tempered_settings(described)
    if isinstance(cls, type) and issubclass(cls, SimulatedTempering):
        return _level_settings(described)
    return _plain_settings(described)


def _plain_settings(described: Mapping[str, Any]) -> Settings:
    """A step size that is left open takes each of `STEP_SIZES`; a radius each of `RADII`."""
    for name, sizes in (("step_size", STEP_SIZES), ("radius", RADII)):
        if name in described and described[name] in (AUTO, None):
            for size in sizes:
                yield "", {name: size}
            return
    yield "", {}


def _tempered_settings(described: Mapping[str, Any]) -> Settings:
    """Ladders of 2 and 3 rungs where none is given, every pairing, step sizes equal and unequal."""
    given, replicas = described.get("ladder", AUTO), described.get("replicas", AUTO)
    ladders = {len(given): list(given)} if given != AUTO else LADDERS
    if replicas != AUTO:
        ladders = {count: ladder for count, ladder in ladders.items() if count == replicas} or ladders
    swap = dict(described.get("swap") or {"_target_": "samplers.tempering.swaps.swap_round.Swaps"})
    pairings = list(PAIRINGS) if swap.get("rule") != "released" else ["sequential"]
    step_size = described.get("step_size", AUTO)
    for count, ladder in ladders.items():
        chosen = RUNG_RADII if "radius" in described.get("kernel", {}) else RUNG_STEP_SIZES
        sizes = chosen.get(count, (1.0,)) if step_size == AUTO else (step_size,)
        for pairing, size in product(pairings, sizes):
            values = {"ladder": ladder, "replicas": AUTO, "swap": {**swap, "pairing": pairing}}
            yield f", {count} replicas, {pairing}", {**values, "step_size": size}


def _level_settings(described: Mapping[str, Any]) -> Settings:
    """Ladders of 2 and 3 levels where none is given, partition functions even and uneven, and wrong."""
    ladder, given = described.get("ladder", AUTO), described.get("log_partition", AUTO)
    ladders = LADDERS if isinstance(ladder, str) else {len(ladder): list(ladder)}
    step_size = described.get("step_size")
    for count, betas in ladders.items():
        sizes = RUNG_STEP_SIZES.get(count, (1.0,)) if isinstance(step_size, str) else (step_size,)
        partitions = [given] if given != AUTO else [[0.0] * count, [0.7 * level for level in range(count)]]
        for partition, size in product(partitions, sizes):
            yield f", {count} levels", {"ladder": betas, "log_partition": partition, "step_size": size}
