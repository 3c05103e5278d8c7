"""Seeds of targets with matrix products in one batch: each has the bits that it has alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import networkx
import pytest
import torch
from torch import Tensor

from metrics.library.thread_count import thread_count
from runner.tools.bench.steps.network_step import made_up_table
from samplers import (
    AB,
    ACS,
    DLMC,
    DMALA,
    DULA,
    EDMALA,
    GWG,
    PAS,
    DMALANewton,
    Gibbs,
    HammingBall,
    Info,
    Kernel,
    ParallelTempering,
    RBMGibbs,
    State,
)
from samplers.seed_blocks import in_seed_blocks
from targets import RBM, Bernoulli4, Binary, FunctionTarget, Target
from targets.compiling import onednn
from targets.compiling.tracing import traced
from targets.graphs.graph_problem import GraphProblem
from targets.graphs.maxcut import MaxCut
from targets.graphs.normcut import NormCut
from targets.models.binary_bnn import BinaryBNN
from targets.models.resnet_ebm import ResNetEBM
from targets.randomness import Streams
from targets.synthetic.gaussian_mixture import GaussianMixture
from targets.synthetic.log_quadratic import LogQuadratic

LADDER = [1.0, 0.8, 0.5]
KERNELS: dict[str, Kernel] = {
    "dmala": DMALA(0.3),
    "dula": DULA(0.3),
    "gibbs": Gibbs(),
    "gwg": GWG(),
    "acs": ACS(4, 2.0, 0.1, 0.5),
    "ab": AB(0.3, 0.5),
    "edmala": EDMALA(0.3, 2.0, 0.01),
    "hamming_ball": HammingBall(4, 1),
    "pas": PAS(2.0),
    "dlmc": DLMC(0.1),
    "pt_dmala": ParallelTempering(DMALA(1.0), ladder=LADDER, step_size=[0.2, 0.3, 0.5]),
    "pt_gibbs": ParallelTempering(Gibbs(), ladder=LADDER),
}
ON_RBMS: dict[str, Kernel] = {
    "rbm_gibbs": RBMGibbs(),
    "pt_rbm_gibbs": ParallelTempering(RBMGibbs(), ladder=LADDER),
}


def rbm(visible: int = 37, hidden: int = 23) -> RBM:
    target = RBM(visible, hidden, mean=torch.linspace(0.1, 0.9, visible)).requires_grad_(False)
    target.weight.mul_(4.0)
    return target


def real_weights(nodes: int = 60) -> networkx.Graph[int]:
    graph: networkx.Graph[int] = networkx.gnp_random_graph(nodes, 0.4, seed=0)
    for place, (one, other) in enumerate(graph.edges):
        graph.edges[one, other]["weight"] = 0.1 + (0.37 * place) % 1.0
    return graph


COUPLING = torch.randn((37, 37), generator=torch.Generator().manual_seed(0))


def coupled(theta: Tensor) -> Tensor:
    return (torch.sigmoid(theta @ COUPLING.to(theta)) * theta).sum(-1)


TARGETS: dict[str, Callable[[], Target]] = {
    "rbm": rbm,
    "binary_bnn": lambda: BinaryBNN(made_up_table(90, 70, 5), 11),
    "resnet_ebm": lambda: ResNetEBM(
        36, mean=torch.linspace(0.1, 0.9, 36), width=8, blocks=2, halvings=1
    ).requires_grad_(False),
    "log_quadratic": lambda: LogQuadratic(d=21),
    "function": lambda: FunctionTarget(coupled, Binary(37)),
}


def walked(
    kernel: Kernel, target: Target, seeds: Sequence[int], dtype: torch.dtype, chains: int, steps: int
) -> tuple[State, Info]:
    """The seeds after some steps in one batch, from starts of their own."""
    target = in_seed_blocks(target.to(dtype), len(seeds))
    one, streams = torch.ones((), dtype=dtype), Streams(seeds, "chain")
    kernel = kernel.to(target.like())
    theta = target.initial((*kernel.axes, len(seeds), chains), Streams(seeds, "start"))
    state = kernel.start(target, theta, one, streams)
    with torch.no_grad():
        for _ in range(steps):
            state, info = kernel.step(target, state, one, streams)
    return state, info


def proved(
    kernel: Kernel,
    target: Target,
    dtype: torch.dtype,
    chains: int = 7,
    sizes: Sequence[int] = (1, 2, 5, 10),
    steps: int = 5,
) -> None:
    """That each of the seeds ends with the same bits alone and in every batch."""
    axis = len(kernel.axes)
    alone = [walked(kernel, target, [seed], dtype, chains, steps) for seed in range(max(sizes))]
    for size in sizes:
        state, info = walked(kernel, target, range(size), dtype, chains, steps)
        for seed in range(size):
            own, own_info = alone[seed]
            assert torch.equal(state.theta.select(axis, seed), own.theta.select(axis, 0))
            assert torch.equal(state.log_prob.select(axis, seed), own.log_prob.select(axis, 0))
            assert torch.equal(info.acceptance[seed], own_info.acceptance[0])
            if state.grad is not None and own.grad is not None:
                assert torch.equal(state.grad.select(axis, seed), own.grad.select(axis, 0))
    moved = torch.stack([state.log_prob.flatten() for state, _ in alone])
    assert len(moved.unique()) > 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("target", TARGETS)
def test_a_seed_has_its_bits_in_every_batch(target: str, kernel: str, dtype: torch.dtype) -> None:
    proved(KERNELS[kernel], TARGETS[target](), dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("kernel", ON_RBMS)
def test_block_gibbs_too(kernel: str, dtype: torch.dtype) -> None:
    proved(ON_RBMS[kernel], rbm(), dtype)


@pytest.mark.parametrize("intel", [True, False], ids=["MKL", "oneDNN"])
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("kernel", ["dmala", "rbm_gibbs", "pt_dmala"])
def test_at_the_papers_size(kernel: str, threads: int, intel: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: intel)
    with thread_count(threads):
        proved({**KERNELS, **ON_RBMS}[kernel], rbm(784, 500), torch.float32, 20, (1, 3), steps=3)


@pytest.mark.parametrize("space", ["ordinal", "categorical"])
@pytest.mark.parametrize("kernel", ["dmala", "gibbs", "pt_dmala"])
def test_levels_and_categories(kernel: str, space: str) -> None:
    proved(KERNELS[kernel], LogQuadratic(space, d=9, levels=4), torch.float32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_paths_whose_places_are_drawn_in_columns(dtype: torch.dtype) -> None:
    proved(PAS(2.0, balancing_function="barker"), LogQuadratic(d=784), dtype, 100, (1, 3), steps=30)


def test_moves_along_exact_differences() -> None:
    proved(DMALANewton(0.3), LogQuadratic(d=21), torch.float32)


@pytest.mark.parametrize("problem", [MaxCut, NormCut])
@pytest.mark.parametrize("kernel", ["gibbs", "pas"])
def test_graphs_with_real_weights(kernel: str, problem: type[GraphProblem]) -> None:
    target = problem(real_weights(), scale=0.5)
    assert not target.batch_invariant
    proved(KERNELS[kernel], target, torch.float32)
    theta = target.space.initial((3, 7), Streams(range(3), "any"), like=target.float().like())
    blocks = in_seed_blocks(target, 3)
    for found, alone in (
        (blocks.objective(theta)[1], target.objective(theta[1:2])[0]),
        (blocks.repaired(theta)[1], target.repaired(theta[1:2])[0]),
    ):
        assert torch.equal(found, alone)


def test_one_seed_and_invariant_targets_are_left_as_they_are() -> None:
    target = rbm()
    assert in_seed_blocks(target, 1) is target
    invariant = Bernoulli4()
    assert in_seed_blocks(invariant, 5) is invariant
    blocks = in_seed_blocks(target, 2)
    assert isinstance(blocks, RBM)
    assert blocks.weight is target.weight
    states = target.initial((4,), torch.Generator().manual_seed(0))  # no axis of seeds
    assert torch.equal(blocks.log_prob(states), target.log_prob(states))


class Counting(RBM):
    """An RBM that counts its batched products, which may be off in the last bits."""

    calls, error = 0, 0.0

    def hidden_logits_of_seeds(self, theta: Tensor) -> Tensor:
        self.calls += 1
        return super().hidden_logits_of_seeds(theta) * (1.0 + self.error)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_a_batched_product_serves_where_it_has_the_same_bits(dtype: torch.dtype) -> None:
    states = torch.rand((3, 7, 37), generator=torch.Generator().manual_seed(0)).to(dtype)
    for error in (0.0, 4 * torch.finfo(dtype).eps):
        target = Counting(37, 23).to(dtype).requires_grad_(False)
        target.error = error
        alone = torch.cat([target.hidden_logits(states[[seed]]) for seed in range(3)])
        batched = torch.equal(target.hidden_logits_of_seeds(states), alone)
        assert not (error and batched)
        blocks = in_seed_blocks(target, 3)
        vars(target)["calls"] = 0
        for _ in range(4):  # tried at the first of them alone
            assert torch.equal(blocks.hidden_logits(states), alone)
        assert target.calls == (5 if batched else 1)
        elsewhere = torch.empty(states.numel() + 1).to(dtype)[1:].view_as(states).copy_(states)
        assert torch.equal(blocks.hidden_logits(elsewhere), alone)
        assert target.calls == (5 if batched else 1)


def test_a_ladder_and_a_trace_go_without_batched_products() -> None:
    """Replicas are rows of one product with their chains, and a trial needs numbers."""
    target = Counting(37, 23).requires_grad_(False)
    blocks = in_seed_blocks(target, 3)
    blocks.hidden_logits(torch.rand(2, 3, 7, 37).double())
    with traced():
        blocks.hidden_logits(torch.rand(3, 7, 37).double())
    assert target.calls == 0


def test_a_target_that_does_not_say_how_is_refused() -> None:
    target = GaussianMixture([[0.0, 0.0]], covariance=[[1.0, 0.5], [0.5, 1.0]])
    with pytest.raises(ValueError, match="the seeds of GaussianMixture cannot share a batch, 2 were given"):
        in_seed_blocks(target, 2)
