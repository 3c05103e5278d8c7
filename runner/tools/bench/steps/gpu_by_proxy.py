"""The rows of the bench that say what a step would cost a GPU, where none is there."""

from __future__ import annotations

import torch

from runner.execution.compiling.choice import has_compiler
from runner.tools.bench.steps.operations import DEVICES, fused_operations, operations
from runner.tools.bench.steps.rbm_step import STEP_SIZE, paper_rbm
from runner.tools.bench.timing import BenchRows
from samplers import DMALA, EDMALA, Kernel, ParallelTempering, RBMGibbs
from targets import Target
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians

CHAINS = 100


def _tempered(replicas: int, step_size: float) -> Kernel:
    ladder = torch.linspace(1.0, 0.5, replicas).tolist()
    return ParallelTempering(DMALA(1.0), ladder=ladder, step_size=step_size)


def proxy_rows(bench: BenchRows) -> None:
    """What a plain step starts, waits for, moves and should take, and what a compiled one starts.

    Only compiled steps have a limit on operations; plain ones are the reference.
    """
    rbm, grid = paper_rbm(), MixtureOfGaussians(8).float()
    on_rbm, on_grid = "RBM 784 x 500", "grid of 101 x 101"
    cases: list[tuple[str, Kernel, Target, int, int]] = [
        (f"dmala, {on_rbm}", DMALA(STEP_SIZE), rbm, 1, 25),
        (f"dmala, {on_rbm}, 10 seeds", DMALA(STEP_SIZE), rbm, 10, 25),
        (f"edmala, {on_rbm}", EDMALA(STEP_SIZE), rbm, 1, 25),
        (f"rbm_gibbs, {on_rbm}", RBMGibbs(), rbm, 1, 25),
        (f"pt_dmala, 5 replicas, {on_rbm}", _tempered(5, STEP_SIZE), rbm, 1, 35),
        (f"pt_dmala, 5 replicas, {on_grid}", _tempered(5, 20.0), grid, 1, 35),
        (f"pt_dmala, 20 replicas, {on_grid}", _tempered(20, 20.0), grid, 1, 35),
    ]
    for about, kernel, target, seeds, most in cases:
        found = operations(kernel, target, CHAINS, seeds)
        name = f"{about}, {CHAINS} chains: operations of"
        moved = f"{sum(found.moved) / 1e6:.0f} MB moved, {sum(found.computed) / 1e6:.0f} MFLOP in products"
        times = ", ".join(f"{1e3 * found.seconds(gpu):.2f} ms on {which}" for which, gpu in DEVICES.items())
        number = len(found.moved)
        bench.add(f"{name} a plain step", f"{number} ({moved}; predicted {times})")
        bench.limited(
            f"{about}, {CHAINS} chains: waits of the host in a step", str(found.waits), found.waits, 0
        )
        if has_compiler():
            number = fused_operations(kernel, target, CHAINS, seeds)
            bench.limited(f"{name} a compiled step (CPU)", str(number), number, most)
