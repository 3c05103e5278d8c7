"""How long a round of PT-DMALA takes, beside the plain loop, and how it grows with replicas and chains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from runner.execution.compiling.choice import has_compiler
from runner.tools.bench.baselines.plain_sampler import plain_round, propose_level, ring_of_gaussians
from runner.tools.bench.scaling_figure import draw_scaling, worst_exponent
from runner.tools.bench.timing import BenchRows, seconds_in_turns, stepping
from samplers import DMALA, Info, Kernel, ParallelTempering, Swaps, geometric_ladder
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians

STEP_SIZE, REPLICAS = 26.0, 5


def ladder_and_steps(replicas: int) -> tuple[list[float], list[float]]:
    """A geometric ladder that ends in 0, with step sizes that grow as 1 / beta up to the whole grid."""
    betas = geometric_ladder(replicas).tolist()
    return betas, [min(1e4, STEP_SIZE / max(beta, 1e-9)) for beta in betas]


def own_round(
    replicas: int, chains: int, *, tables: bool = True, compiled: bool = False
) -> Callable[[], Info]:
    """A call that runs one round of the project's sampler on the eight-mode grid target."""
    kernel: Kernel = DMALA(STEP_SIZE)
    if replicas > 1:
        betas, step_sizes = ladder_and_steps(replicas)
        swaps = Swaps(pairing="sequential")
        kernel = ParallelTempering(DMALA(1.0), ladder=betas, step_size=step_sizes, swap=swaps)
    return stepping(
        kernel, MixtureOfGaussians(components=8).float(), chains, tables=tables, compiled=compiled
    )


def tempering_rows(bench: BenchRows, chains: int) -> None:
    """A round beside that of the plain loop, sequential Metropolis swaps in both."""
    betas, step_sizes = ladder_and_steps(REPLICAS)
    log_prob = ring_of_gaussians()
    torch.manual_seed(0)
    states = [torch.randint(0, 101, (chains, 2)).float() for _ in betas]
    call, without = own_round(REPLICAS, chains), own_round(REPLICAS, chains, tables=False)
    calls: dict[str, Callable[[], object]] = {
        "plain": lambda: plain_round(log_prob, states, betas, step_sizes, propose_level),
        "tables": call,
        "without": without,
    }
    if has_compiler():
        calls["compiled"] = own_round(REPLICAS, chains, compiled=True)
    seconds = seconds_in_turns(calls, rounds=30, least=0.05)
    evaluations = call().evaluations / REPLICAS
    name = f"PT-DMALA round, {REPLICAS} replicas x {chains} chains"
    bench.ratio(f"{name}, faster than the plain loop", seconds["plain"], seconds["tables"], least=10)
    if "compiled" in seconds:
        wanted = 60 if chains < 1000 else 100
        bench.ratio(f"{name}, compiled", seconds["plain"], seconds["compiled"], least=wanted)
    bench.ratio(f"{name}, without tables", seconds["plain"], seconds["without"])
    bench.add(f"{name}, evaluations per replica", f"{evaluations:g}", "1", evaluations == 1)


def scaling_rows(bench: BenchRows, folder: Path, *, short: bool) -> None:
    """How a round grows with replicas and chains; draws the figure."""
    replicas = (1, 2, 8) if short else (1, 2, 4, 8, 16, 32)
    chains = (10, 1000) if short else (10, 100, 1000, 10_000)
    times: dict[tuple[int, int], float] = {}
    for c in chains:  # ladders of one line take turns, so that other work on the computer bends none of them
        times |= seconds_in_turns({(k, c): own_round(k, c) for k in replicas}, rounds=20, least=0.03)
    draw_scaling(times, folder)
    for axis, exponent in worst_exponent(times).items():
        name = f"largest growth exponent with {axis}"
        bench.add(name, f"{exponent:.2f}", "<= 1 (1.1 with noise)", exponent <= 1.1)
    most = max(chains)
    bench.ratio(f"a ladder of 2 against plain DMALA, {most} chains", times[2, most], times[1, most])
    if has_compiler() and not short:  # compiled steps are too short to tell with fewer replicas and chains
        compiled = {(k, most): own_round(k, most, compiled=True) for k in (2, 8, 32)}
        exponent = worst_exponent(seconds_in_turns(compiled, rounds=20, least=0.03))["replicas"]
        name = f"largest growth exponent with replicas, compiled, {most} chains"
        bench.add(name, f"{exponent:.2f}", "<= 1 (1.1 with noise)", exponent <= 1.1)
