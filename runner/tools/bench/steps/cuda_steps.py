"""Times of steps on a CUDA device, plain and replayed as a CUDA graph, and the kernels that they start."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, profile

from runner.execution.stopwatch import Stopwatch
from runner.tools.bench.deep_ebm import PAPER, REDUCED, deep_rows
from runner.tools.bench.steps.network_step import COMPAS, NETWORKS, made_up_table
from runner.tools.bench.steps.rbm_step import paper_rbm
from runner.tools.bench.timing import BenchRows
from samplers import DMALA, EDMALA, Kernel, ParallelTempering, RBMGibbs, State
from samplers.stepper import PLAIN_STEPS, Stepper
from targets import MixtureOfGaussians, Streams, Target
from targets.models.binary_bnn import BinaryBNN

REPEATS, LADDER = 5, [1.0, 0.9, 0.8, 0.7, 0.6]
"""The fastest of so many stretches counts."""

Step = Callable[[State], tuple[State, object]]


def _networks() -> Target:
    return BinaryBNN(made_up_table(*COMPAS), 500).float().requires_grad_(False)


def _grid() -> Target:
    return MixtureOfGaussians(8).float()


CASES: dict[str, tuple[Callable[[], Target], Kernel, int]] = {
    "dmala, RBM 784 x 500, 100 chains": (paper_rbm, DMALA(0.2), 100),
    "dmala, RBM 784 x 500, 10,000 chains": (paper_rbm, DMALA(0.2), 10_000),
    "edmala, RBM 784 x 500, 100 chains": (paper_rbm, EDMALA(0.2), 100),
    "rbm_gibbs, RBM 784 x 500, 100 chains": (paper_rbm, RBMGibbs(), 100),
    "pt_dmala, 5 replicas, RBM 784 x 500, 100 chains": (
        paper_rbm,
        ParallelTempering(DMALA(1.0), ladder=LADDER, step_size=0.2),
        100,
    ),
    "dmala, grid of 101 x 101, 100 chains": (_grid, DMALA(20.0), 100),
    "pt_dmala, 5 replicas, grid of 101 x 101, 100 chains": (
        _grid,
        ParallelTempering(DMALA(1.0), ladder=LADDER, step_size=20.0),
        100,
    ),
    "pt_dmala, 5 replicas, grid of 101 x 101, 10,000 chains": (
        _grid,
        ParallelTempering(DMALA(1.0), ladder=LADDER, step_size=20.0),
        10_000,
    ),
    "dmala, 50 binary networks of 500 units, COMPAS size": (_networks, DMALA(0.1), NETWORKS),
}
"""Target, kernel and chains by the name of the row."""


def cuda_rows(bench: BenchRows, *, short: bool) -> None:
    """The rows of the bench; none where there is no CUDA device."""
    if not torch.cuda.is_available():
        return
    steps = 50 if short else 400
    for name, (make, kernel, chains) in CASES.items():
        plain, replayed, launches = step_cost(make(), kernel, chains, steps)
        bench.add(f"{name}, cuda: kernels started by a plain step", f"{launches:.0f}")
        bench.ratio(f"{name}, cuda: replayed step against a plain one", replayed, plain)
    for size in (REDUCED,) if short else (REDUCED, PAPER):
        deep_rows(bench, 2, size)


@torch.no_grad()
def step_cost(target: Target, kernel: Kernel, chains: int, steps: int) -> tuple[float, float, float]:
    """Seconds of a plain step and of a replayed one, and the CUDA kernels that a plain one starts."""
    target = target.to("cuda")
    like = target.like()
    one, streams = like.new_ones(()), Streams([0], "bench", like.device)
    kernel = kernel.to(like).prepared(target, one)
    state = kernel.init(target, target.initial((*kernel.axes, 1, chains), streams), one)

    def plain(state: State) -> tuple[State, object]:
        return kernel.step(target, state, one, streams)

    stepper = Stepper(kernel, target, one, streams)
    for _ in range(PLAIN_STEPS + 5):
        state, _ = stepper(state)
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as watched:
        for _ in range(10):
            state, _ = plain(state)
        torch.cuda.synchronize()
    started = sum(each.count for each in watched.key_averages() if each.key.startswith("cudaLaunchKernel"))
    return _seconds(plain, state, steps), _seconds(stepper, state, steps), started / 10


def _seconds(step: Step, state: State, steps: int) -> float:
    """Of one step: the fastest of `REPEATS` stretches of `steps` steps, by events on the stream."""
    found = []
    for _ in range(REPEATS):
        watch = Stopwatch(torch.device("cuda"))
        watch.start()
        for _ in range(steps):
            state, _ = step(state)
        watch.stop()
        found.append(watch.lap() / steps)
    return min(found)


if __name__ == "__main__":
    cuda_rows(BenchRows(print), short=False)
