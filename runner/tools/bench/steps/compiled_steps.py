"""Compiled steps beside plain ones, and beside the matrix products that an RBM cannot avoid."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from metrics.library.thread_count import thread_count
from runner.execution.compiling.choice import has_compiler
from runner.tools.bench.steps.rbm_step import LADDERS, STEP_SIZE, paper_rbm
from runner.tools.bench.timing import BenchRows, seconds_in_turns, stepping
from samplers import DMALA, DULA, EDMALA, Kernel, ParallelTempering, RBMGibbs
from samplers.compiling.counter_streams import CounterStreams, NextNumbers
from targets import Streams, Target
from targets.compiling.onednn import product
from targets.randomness import uniform
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians

KERNELS: dict[str, tuple[Kernel, float | None]] = {
    "dmala": (DMALA(STEP_SIZE), 1.6),
    "dula": (DULA(STEP_SIZE), 1.4),
    "rbm_gibbs": (RBMGibbs(), 1.4),
    "edmala": (EDMALA(STEP_SIZE, 2.0, 0.001), None),
    "pt_dmala, 5 replicas": (ParallelTempering(DMALA(1.0), ladder=LADDERS[5], step_size=STEP_SIZE), None),
}
"""Kernels on an RBM, and how many times its two products a compiled step may cost."""


def compiled_rows(bench: BenchRows, rounds: int, counts: tuple[int, ...] = (100, 500)) -> None:
    """The rows of the bench; where there is no compiler one that says so."""
    if not has_compiler():
        bench.add("compiled steps", "left out, no C++ compiler is there")
        return
    for chains in counts:
        _rbm_rows(bench, rounds, chains)
    kernel = ParallelTempering(DMALA(1.0), ladder=LADDERS[5], step_size=20.0)
    for chains in (100, 1000):
        _compare(bench, "pt_dmala, 5 replicas, grid of 101 x 101", kernel, _grid(), chains, rounds)


def _grid() -> Target:
    return MixtureOfGaussians(8).float()


def _rbm_rows(bench: BenchRows, rounds: int, chains: int) -> None:
    target = paper_rbm()
    theta = (torch.rand((chains, 784), generator=torch.Generator().manual_seed(0)) < 0.5).float()
    hidden = target.hidden_logits(theta).sigmoid()
    weight = target.weight.detach()
    one, ten, twister = (
        CounterStreams([0], "bench"),
        CounterStreams(range(10), "bench"),
        Streams([0], "bench"),
    )
    with thread_count(1):
        own = seconds_in_turns(
            {
                "draws": _compiled_draw(one, (1, chains)),
                "draws of ten": _compiled_draw(ten, (10, chains)),
                "draws of a generator": lambda: twister.uniform((1, chains), (784,), weight.dtype),
                "mkl": lambda: (theta @ weight.T, hidden @ weight),
                "onednn": lambda: (product(theta, weight.T, None), product(hidden, weight, None)),
            },
            rounds,
        )
    bench.ratio(
        f"two products of an RBM 784 x 500, {chains} chains, oneDNN against MKL", own["onednn"], own["mkl"]
    )
    about = f"uniform numbers of a compiled DMALA step, RBM 784 x 500, {chains} chains"
    bench.ratio(f"{about}, against its two products", own["draws"], own["mkl"], most=0.12)
    bench.ratio(f"{about}, against its two products by oneDNN", own["draws"], own["onednn"])
    bench.ratio(f"{about}, against those of a plain step", own["draws"], own["draws of a generator"])
    bench.ratio(f"{about}, of 10 seeds together against 10 times one", own["draws of ten"], 10 * own["draws"])
    for name, (kernel, most) in KERNELS.items():
        if chains > 100 and most is None:
            continue
        about = f"{name}, RBM 784 x 500"
        seconds = _compare(bench, about, kernel, target, chains, rounds)
        if most is not None:
            row = f"compiled step of {about}, {chains} chains, 1 thread, against its two products"
            bench.ratio(row, seconds, own["mkl"], most=most)
            bench.ratio(f"{row} by oneDNN", seconds, own["onednn"])


def _compiled_draw(streams: CounterStreams, batch: tuple[int, ...]) -> Callable[[], object]:
    """A call that draws a uniform number in float32 for each pixel of a batch."""

    def draw(like: Tensor) -> Tensor:
        return uniform(NextNumbers(streams), batch, (784,), like=like)

    inputs: list[Any] = [torch.empty(1)]
    compiled = torch._inductor.compile(make_fx(draw)(*inputs), inputs)
    return lambda: compiled(*inputs)


def _compare(bench: BenchRows, about: str, kernel: Kernel, target: Target, chains: int, rounds: int) -> float:
    """Seconds of a compiled step; adds a row that compares it with a plain one."""
    with thread_count(1), torch.no_grad():
        plain = stepping(kernel, target, chains)
        started = time.perf_counter()
        compiled = stepping(kernel, target, chains, compiled=True)
        took = time.perf_counter() - started
        calls: dict[str, Callable[[], object]] = {"plain": plain, "compiled": compiled}
        seconds = seconds_in_turns(calls, rounds)
    name = f"compiled step of {about}, {chains} chains, 1 thread, against a plain one"
    bench.ratio(name, seconds["compiled"], seconds["plain"], most=0.9)
    bench.add(f"{about}, {chains} chains: compiling a step", f"{took:.1f} s")
    return seconds["compiled"]
