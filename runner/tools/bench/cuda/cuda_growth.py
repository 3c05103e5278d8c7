"""How the time of a round of parallel tempering grows with replicas on a CUDA device."""

from __future__ import annotations

from runner.tools.bench.cuda.step_cost import replayed_cost
from runner.tools.bench.scaling_figure import worst_exponent
from runner.tools.bench.tempering_round import ladder_and_steps
from runner.tools.bench.timing import BenchRows
from samplers import DMALA, ParallelTempering, Swaps
from targets import MixtureOfGaussians

REPLICAS = (2, 8, 32)


def growth_rows(bench: BenchRows, counts: tuple[int, ...]) -> None:
    """A row for each number of chains and each kind of step, with the times of all ladders."""
    for chains in counts:
        for compiled in (False, True):
            times = {
                (replicas, chains): round_seconds(replicas, chains, compiled=compiled)
                for replicas in REPLICAS
            }
            listed = ", ".join(f"{1e3 * seconds:.2f}" for seconds in times.values())
            kind = "compiled" if compiled else "replayed"
            exponent = worst_exponent(times, shortest=0.0)["replicas"]
            name = f"growth with {', '.join(map(str, REPLICAS))} replicas, {kind}, {chains:,} chains, cuda"
            bench.limited(name, f"exponent {exponent:.2f} ({listed} ms)", exponent, 1.0)


def round_seconds(replicas: int, chains: int, *, compiled: bool, steps: int = 200) -> float:
    """Of a round of PT-DMALA on the grid, replayed as a CUDA graph."""
    betas, step_sizes = ladder_and_steps(replicas)
    swaps = Swaps(pairing="sequential")
    kernel = ParallelTempering(DMALA(1.0), ladder=betas, step_size=step_sizes, swap=swaps)
    target = MixtureOfGaussians(components=8).float()
    return replayed_cost(target, kernel, chains, steps, compiled=compiled).seconds
