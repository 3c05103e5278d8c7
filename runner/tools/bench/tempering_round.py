"""How long a round of PT-DMALA takes, beside the plain loop, and how it grows with replicas and chains."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from runner.tools.bench.baselines.plain_loop import plain_round, ring_of_gaussians
from samplers.discrete.dmala import DMALA
from samplers.kernel import Kernel
from samplers.tempering.ladder import geometric_ladder
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.swaps.swap_round import Swaps
from targets.randomness import Streams
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians
from targets.target import Target

STEP_SIZE = 26.0


def fastest_seconds(call: Callable[[], object], least: float = 0.5, repeats: int = 3) -> float:
    """The fastest mean over `repeats` stretches of at least `least` seconds each, after a warm-up."""
    for _ in range(5):
        call()
    best = float("inf")
    for _ in range(repeats):
        calls, start = 0, time.perf_counter()
        while time.perf_counter() - start < least:
            call()
            calls += 1
        best = min(best, (time.perf_counter() - start) / calls)
    return best


def ladder_and_steps(replicas: int) -> tuple[list[float], list[float]]:
    """A geometric ladder that ends in 0, with step sizes that grow as 1 / beta up to the whole grid."""
    betas = geometric_ladder(replicas).tolist()
    return betas, [min(1e4, STEP_SIZE / max(beta, 1e-9)) for beta in betas]


def suite_round(target: Target, replicas: int, chains: int, *, tables: bool = True) -> Callable[[], object]:
    """A call that runs one round of the suite's sampler and keeps its state."""
    kernel: Kernel = DMALA(STEP_SIZE)
    if replicas > 1:
        betas, step_sizes = ladder_and_steps(replicas)
        kernel = ParallelTempering(
            DMALA(1.0), ladder=betas, step_size=step_sizes, swap=Swaps(pairing="sequential")
        )
    return stepping(kernel, target, chains, tables=tables)


def stepping(kernel: Kernel, target: Target, chains: int, *, tables: bool = True) -> Callable[[], object]:
    """A call that takes one step of all chains and keeps their state."""
    one, generator = torch.ones(()), Streams([0], "bench")
    kernel = kernel.to(target.like())
    if tables:
        kernel = kernel.prepared(target, one)
    state = kernel.init(target, target.initial((*kernel.axes, 1, chains), generator), one)

    def call() -> object:
        nonlocal state
        state, info = kernel.step(target, state, one, generator)
        return info

    return call


@dataclass(frozen=True)
class Comparison:
    """Seconds a round for the plain loop and for the suite, with and without tabulated proposals."""

    chains: int
    plain: float
    suite: float
    suite_without_tables: float
    evaluations: float

    @property
    def ratio(self) -> float:
        """How many times faster the suite is."""
        return self.plain / self.suite

    @property
    def ratio_without_tables(self) -> float:
        """The same with the proposal computed level by level, as on spaces too large for tables."""
        return self.plain / self.suite_without_tables


def compare_tempering(chains: int, replicas: int = 5) -> Comparison:
    """The suite against the plain loop on the eight-mode grid target, sequential Metropolis swaps in both."""
    target = MixtureOfGaussians(components=8).float()
    betas, step_sizes = ladder_and_steps(replicas)
    log_prob = ring_of_gaussians()
    torch.manual_seed(0)
    states = [torch.randint(0, 101, (chains, 2)).float() for _ in betas]
    plain = fastest_seconds(lambda: plain_round(log_prob, states, betas, step_sizes))
    call = suite_round(target, replicas, chains)
    info = call()
    return Comparison(
        chains,
        plain,
        fastest_seconds(call),
        fastest_seconds(suite_round(target, replicas, chains, tables=False)),
        info.evaluations / replicas,  # type: ignore[attr-defined]
    )


def scaling(
    replicas: tuple[int, ...] = (1, 2, 4, 8, 16, 32), chains: tuple[int, ...] = (10, 100, 1000, 10_000)
) -> dict[tuple[int, int], float]:
    """Seconds a round by (replicas, chains)."""
    target = MixtureOfGaussians(components=8).float()
    return {
        (k, c): fastest_seconds(suite_round(target, k, c), least=0.2, repeats=4)
        for k in replicas
        for c in chains
    }
