"""What a round of a ladder on an RBM costs beside as many steps of its kernel alone, all compiled.

The records of `rbm_tempering` compare at equal evaluations; these ratios say what that is in seconds.
"""

from __future__ import annotations

import torch

from metrics.library.thread_count import thread_count
from runner.execution.compiling.choice import has_compiler
from runner.tools.bench.cuda.step_cost import replayed_cost
from runner.tools.bench.steps.rbm_step import CHAINS, STEP_SIZE, paper_rbm
from runner.tools.bench.timing import BenchRows, seconds_in_turns, stepping
from samplers import DMALA, Kernel, ParallelTempering, RBMGibbs

LADDERS: dict[str, tuple[Kernel, dict[int, float]]] = {
    "dmala": (DMALA(STEP_SIZE), {4: 0.85, 8: 0.65, 16: 0.35, 22: 0.2}),
    "rbm_gibbs": (RBMGibbs(), {8: 0.65, 22: 0.2}),
}
"""Kernels, and their ladders in `rbm_tempering`: numbers of replicas and the smallest inverse temperature."""


def ladder_rows(bench: BenchRows, rounds: int) -> None:
    """The rows of the bench, on the CUDA device if there is one; where nothing compiles, one that says so."""
    if not has_compiler():
        bench.add("compiled ladders", "left out, no C++ compiler is there")
        return
    where = "cuda" if torch.cuda.is_available() else "1 thread"
    for name, (kernel, ladders) in LADDERS.items():
        tempered = {replicas: _tempered(kernel, replicas, least) for replicas, least in ladders.items()}
        seconds = _seconds({1: kernel, **tempered}, rounds)
        for replicas in tempered:
            row = f"compiled round of {replicas} replicas of {name}, RBM 784 x 500, {CHAINS} chains, {where}"
            bench.ratio(f"{row}, against as many steps of one", seconds[replicas], replicas * seconds[1])


def _tempered(kernel: Kernel, replicas: int, least: float) -> Kernel:
    sizes = [STEP_SIZE] * replicas if isinstance(kernel, DMALA) else None
    return ParallelTempering(kernel, torch.linspace(1.0, least, replicas), sizes)


def _seconds(kernels: dict[int, Kernel], rounds: int) -> dict[int, float]:
    """Of a compiled step by the number of replicas; on the CPU all are measured in turns."""
    if torch.cuda.is_available():
        steps = 10 * rounds
        return {
            replicas: replayed_cost(paper_rbm(), kernel, CHAINS, steps, compiled=True).seconds
            for replicas, kernel in kernels.items()
        }
    with thread_count(1), torch.no_grad():
        target = paper_rbm()
        calls = {key: stepping(kernel, target, CHAINS, compiled=True) for key, kernel in kernels.items()}
        return seconds_in_turns(calls, rounds)
