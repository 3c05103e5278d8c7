"""The rows of the bench on a CUDA device: samplers by their steps, plain, replayed and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

from runner.tools.bench.cuda.cuda_growth import growth_rows
from runner.tools.bench.cuda.cuda_learning import learning_rows
from runner.tools.bench.cuda.jax_on_cuda import jax_cuda_rows
from runner.tools.bench.cuda.step_cost import plain_cost, replayed_cost
from runner.tools.bench.deep_ebm import PAPER, REDUCED, deep_rows
from runner.tools.bench.steps.network_step import COMPAS, NETWORKS, made_up_table
from runner.tools.bench.steps.rbm_step import LADDERS, STEP_SIZE, paper_rbm
from runner.tools.bench.timing import BenchRows
from samplers import DLMC, DMALA, EDMALA, GWG, PAS, Kernel, ParallelTempering, RBMGibbs
from samplers.compiling.not_compiled import NotCompiledError
from targets import Ising, MixtureOfGaussians, Target
from targets.models.binary_bnn import BinaryBNN


def _networks() -> Target:
    return BinaryBNN(made_up_table(*COMPAS), 500).float().requires_grad_(False)


def _grid() -> Target:
    return MixtureOfGaussians(8).float()


def _ising() -> Target:
    return Ising(size=64, coupling=0.4).float()


def _tempered(ladder: list[float], step_size: float) -> Kernel:
    return ParallelTempering(DMALA(1.0), ladder=ladder, step_size=step_size)


LONG = torch.linspace(1.0, 0.5, 20).tolist()
RBM, GRID, ISING = "RBM 784 x 500", "grid of 101 x 101", "Ising 64 x 64"


class Case(NamedTuple):
    """A kernel on a target.

    Attributes:
        most: operations that a compiled step may have.
    """

    make: Callable[[], Target]
    kernel: Kernel
    chains: int
    seeds: int = 1
    most: int | None = None


CASES: dict[str, Case] = {
    f"dmala, {RBM}, 100 chains": Case(paper_rbm, DMALA(STEP_SIZE), 100, most=25),
    f"dmala, {RBM}, 10 seeds of 100 chains": Case(paper_rbm, DMALA(STEP_SIZE), 100, seeds=10),
    f"dmala, {RBM}, 10,000 chains": Case(paper_rbm, DMALA(STEP_SIZE), 10_000, most=25),
    f"edmala, {RBM}, 100 chains": Case(paper_rbm, EDMALA(STEP_SIZE), 100, most=25),
    f"rbm_gibbs, {RBM}, 100 chains": Case(paper_rbm, RBMGibbs(), 100, most=25),
    f"pt_dmala, 5 replicas, {RBM}, 100 chains": Case(
        paper_rbm, _tempered(LADDERS[5], STEP_SIZE), 100, most=35
    ),
    f"dmala, {GRID}, 100 chains": Case(_grid, DMALA(20.0), 100, most=25),
    f"pt_dmala, 5 replicas, {GRID}, 100 chains": Case(_grid, _tempered(LADDERS[5], 20.0), 100, most=35),
    f"pt_dmala, 5 replicas, {GRID}, 10 seeds of 100 chains": Case(
        _grid, _tempered(LADDERS[5], 20.0), 100, seeds=10
    ),
    f"pt_dmala, 20 replicas, {GRID}, 100 chains": Case(_grid, _tempered(LONG, 20.0), 100, most=35),
    f"pt_dmala, 5 replicas, {GRID}, 10,000 chains": Case(_grid, _tempered(LADDERS[5], 20.0), 10_000, most=35),
    f"dmala, {ISING}, 100 chains": Case(_ising, DMALA(0.2), 100),
    f"dlmc, {ISING}, 100 chains": Case(_ising, DLMC(0.05), 100),
    f"gwg, {ISING}, 100 chains": Case(_ising, GWG(), 100),
    f"pas, radius 15, {ISING}, 100 chains": Case(_ising, PAS(15.0), 100),
    "dmala, 50 binary networks of 500 units, COMPAS size": Case(_networks, DMALA(0.1), NETWORKS),
}
"""By the name of the row."""


def cuda_rows(bench: BenchRows, *, short: bool) -> None:
    """The rows of the bench; none where there is no CUDA device."""
    if not torch.cuda.is_available():
        return
    for name, case in CASES.items():
        step_rows(bench, f"{name}, cuda", case, 50 if short else 400)
    growth_rows(bench, (1_000,) if short else (10_000, 100_000))
    jax_cuda_rows(bench, (100,) if short else (100, 10_000))
    learning_rows(bench, 2 if short else 10)
    for size in (REDUCED,) if short else (REDUCED, PAPER):
        deep_rows(bench, 2, size)


def step_rows(bench: BenchRows, name: str, case: Case, steps: int) -> None:
    """Those of one kernel on one target."""
    make, kernel, chains, seeds, most = case
    plain = plain_cost(make(), kernel, chains, steps, seeds)
    replayed = replayed_cost(make(), kernel, chains, steps, seeds)
    bench.add(f"{name}: operations of a plain step", f"{plain.started:.0f}")
    bench.ratio(f"{name}: replayed step against a plain one", replayed.seconds, plain.seconds)
    bench.add(f"{name}: the device at work in a replayed step", f"{1e3 * replayed.busy:.3f} ms")
    if seeds > 1:  # compiled, runs have their seeds one after the other
        return
    try:
        compiled = replayed_cost(make(), kernel, chains, steps, compiled=True)
    except NotCompiledError as error:
        bench.add(f"{name}: compiled", f"cannot be, {error}")
        return
    operations = f"{name}: operations of a compiled step"
    if most is None:
        bench.add(operations, f"{compiled.started:.0f}")
    else:
        bench.limited(operations, f"{compiled.started:.0f}", round(compiled.started), most)
    bench.ratio(
        f"{name}: compiled and replayed step against a replayed one", compiled.seconds, replayed.seconds
    )
    bench.add(f"{name}: the device at work in a compiled step", f"{1e3 * compiled.busy:.3f} ms")


if __name__ == "__main__":
    cuda_rows(BenchRows(print), short=False)
