"""How long a step on the Ising model takes, beside one evaluation of its value and gradient."""

from __future__ import annotations

from collections.abc import Callable

import torch

from metrics.library.thread_count import thread_count
from runner.execution.compiling.choice import has_compiler
from runner.tools.bench.timing import BenchRows, seconds_in_turns, stepping
from samplers import DLMC, DMALA, GWG, PAS, Kernel, SwendsenWang, Wolff
from targets import Ising, Streams

SIZE, CHAINS = 64, 100
WANTED = {"dmala": 2.0, "dlmc": 2.0, "gwg": 2.5, "pas": 4.0}
"""The most evaluations that a compiled step should take the time of."""


def compare_ising_steps(rounds: int) -> dict[str, float]:
    """Seconds of one step of 100 chains on 64 x 64 spins in float32, on one thread, measured in turns.

    Returns:
        By the sampler's name, with ``compiled`` in front of compiled steps; ``evaluation``: U and its
        gradient; ``random numbers``: a uniform number for each spin from a generator.
    """
    target, generator = Ising(size=SIZE, coupling=0.4).float(), Streams([0], "bench")
    theta = target.initial((1, CHAINS), generator)
    kernels: dict[str, Kernel] = {
        "dmala": DMALA(0.2),
        "dlmc": DLMC(0.05),
        "gwg": GWG(),
        "pas": PAS(15.0),
        "pas with replacement": PAS(15.0, replacement=True),
        "swendsen_wang": SwendsenWang(),
        "wolff": Wolff(),
    }
    with thread_count(1), torch.no_grad():
        calls: dict[str, Callable[[], object]] = {
            "evaluation": lambda: target.log_prob_and_grad(theta),
            "random numbers": lambda: generator.uniform(theta.shape[:-1], theta.shape[-1:], theta.dtype),
            **{name: stepping(kernel, target, CHAINS) for name, kernel in kernels.items()},
        }
        for name in WANTED if has_compiler() else ():
            calls[f"compiled {name}"] = stepping(kernels[name], target, CHAINS, compiled=True)
        return seconds_in_turns(calls, rounds)


def ising_rows(bench: BenchRows, rounds: int) -> None:
    """The rows of the bench."""
    seconds = compare_ising_steps(rounds)
    place = f"Ising {SIZE} x {SIZE}, {CHAINS} chains, 1 thread"
    for name, each in seconds.items():
        if name != "evaluation":
            title = f"{name}, {place}, against value and gradient"
            most = WANTED[name.removeprefix("compiled ")] if name.startswith("compiled ") else None
            bench.ratio(title, each, seconds["evaluation"], most=most)
