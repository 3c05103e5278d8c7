"""Seeds that share a batch on a GPU although their products depend on the rows have the bits of one alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from runner.tools.bench.steps.network_step import COMPAS, made_up_table
from samplers import DMALA, GWG, Gibbs, Kernel, ParallelTempering, RBMGibbs, State
from samplers.seed_blocks import in_seed_blocks
from samplers.stepper import PLAIN_STEPS, Stepper
from targets import RBM, FunctionTarget, Streams, Target
from targets.models.binary_bnn import BinaryBNN
from targets.spaces import Binary
from tests.cuda.kernels import CUDA, one

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

SEEDS, STEPS = 7, PLAIN_STEPS + 15


def function_target() -> Target:
    weight = torch.randn((60, 60), generator=torch.Generator().manual_seed(0), device="cpu").to(CUDA)

    def log_prob(theta: Tensor) -> Tensor:
        return (theta @ weight.to(theta.dtype)).tanh().sum(-1)

    return FunctionTarget(log_prob, Binary(60))


CASES: dict[str, tuple[Callable[[], Target], Kernel]] = {
    "rbm": (lambda: RBM(784, 500), DMALA(0.2)),
    "rbm gibbs": (lambda: RBM(784, 500), RBMGibbs()),
    "tempered rbm": (lambda: RBM(96, 40), ParallelTempering(DMALA(0.2), [1.0, 0.7, 0.5])),
    "small rbm": (lambda: RBM(20, 12), Gibbs()),
    "networks": (lambda: BinaryBNN(made_up_table(*COMPAS), 50), DMALA(0.1)),
    "function": (function_target, GWG()),
}


def walk(name: str, seeds: list[int], dtype: torch.dtype) -> State:
    """Where some steps lead, the last ones replayed."""
    make, kernel = CASES[name]
    target = in_seed_blocks(make().to(device=CUDA, dtype=dtype).requires_grad_(False), len(seeds))
    kernel = kernel.to(target.like())
    theta = target.initial((*kernel.axes, len(seeds), 13), Streams(seeds, "start", CUDA))
    streams = Streams(seeds, "chain", CUDA)
    state = kernel.start(target, theta, one(target), streams)
    stepper = Stepper(kernel, target, one(target), streams)
    for _ in range(STEPS):
        state, _ = stepper(state)
    assert stepper._recorded is not None, stepper.not_recorded
    return state


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CASES)
def test_a_seed_has_the_bits_that_it_has_alone(name: str, dtype: torch.dtype) -> None:
    together = walk(name, list(range(SEEDS)), dtype)
    for place in (0, 5):
        alone = walk(name, [place], dtype)
        axis = together.log_prob.dim() - 2
        assert torch.equal(alone.theta, together.theta.narrow(axis, place, 1))
        assert torch.equal(alone.log_prob, together.log_prob.narrow(axis, place, 1))
    assert not torch.equal(together.theta.narrow(axis, 0, 1), together.theta.narrow(axis, 5, 1))
