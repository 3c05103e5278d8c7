"""Tempering with 0, 1, 2 and 3 batch axes beside that of the ladder, and kernels prepared for one beta."""

from __future__ import annotations

import pytest
import torch

from samplers.continuous.mala import MALA
from samplers.discrete.dmala import DMALA
from samplers.discrete.gibbs import Gibbs
from samplers.entropic.edmala import EDMALA
from samplers.kernel import Kernel
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.replica_exchange_langevin import ReplicaExchangeLangevin
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering
from samplers.tempering.swaps.swap_pairings import PAIRINGS
from samplers.tempering.swaps.swap_round import REPLICA, Swaps
from targets.spaces import Binary, Ordinal
from targets.synthetic.paper_mixtures import stmh_two_modes
from targets.target import Target
from tests.support.small_targets import random_target

ONE = torch.ones((), dtype=torch.float64)
LADDER, SIZES = [1.0, 0.5, 0.1], [0.4, 1.0, 5.0]
BINARY, ORDINAL = random_target(Binary(4), seed=1), random_target(Ordinal(2, 4), seed=2)
REALS = stmh_two_modes(4.0).double()
BATCHES = [(), (6,), (2, 3), (1, 2, 3)]
KERNELS: dict[str, tuple[Kernel, Target]] = {
    **{
        f"pt_{pairing}": (ParallelTempering(DMALA(1.0), LADDER, SIZES, Swaps(pairing=pairing)), BINARY)
        for pairing in PAIRINGS
    },
    "pt_gibbs": (ParallelTempering(Gibbs(), LADDER), ORDINAL),
    "pt_edmala": (ParallelTempering(EDMALA(1.0), LADDER, SIZES), BINARY),
    "pt_prepared": (ParallelTempering(DMALA(1.0), LADDER, SIZES).prepared(ORDINAL, ONE), ORDINAL),
    "pt_mala": (ParallelTempering(MALA(1.0), LADDER, SIZES), REALS),
    "reld": (ReplicaExchangeLangevin(MALA(1.0), LADDER, 0.2), REALS),
    "reld_confined": (ReplicaExchangeLangevin(MALA(1.0), [1.0, 0.0], 0.2, tau=2.0, scale=3.0), REALS),
    "st_dmala": (SimulatedTempering(DMALA(1.0), LADDER, [0.0, 0.0, 0.0], step_size=SIZES), BINARY),
    "st_gibbs": (SimulatedTempering(Gibbs(), LADDER, [0.0, 0.0, 0.0]), ORDINAL),
}


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("name", KERNELS)
def test_any_number_of_batch_axes_serves(name: str, batch: tuple[int, ...]) -> None:
    kernel, target = KERNELS[name]
    generator = torch.Generator().manual_seed(0)
    state = kernel.init(target, target.initial((*kernel.axes, *batch), generator), ONE)
    for _ in range(5):
        state, info = kernel.step(target, state, ONE, generator)
    assert kernel.draws(state).shape == (*batch, *target.space.event_shape)
    assert info.acceptance.shape == info.jump.shape == batch
    assert all(value.shape == (*batch, *target.space.event_shape) for value in info.aux.values())
    assert state.log_prob.shape == (*kernel.axes, *batch)
    torch.testing.assert_close(state.log_prob, target.log_prob(state.theta))
    if info.swap is not None:
        assert info.swap.probability.shape == (kernel.axes[0] - 1, *batch)
        assert torch.equal(state.aux[REPLICA], info.swap.replica)


@pytest.mark.parametrize(
    "name", ["pt_odd_even", "pt_sequential", "pt_edmala", "pt_prepared", "reld", "st_dmala"]
)
def test_the_axes_only_arrange_the_chains(name: str) -> None:
    """The same chains in a row and in a box draw the same numbers, whichever axes they are arranged along."""
    kernel, target = KERNELS[name]

    def walk(batch: tuple[int, ...]) -> torch.Tensor:
        generator = torch.Generator().manual_seed(3)
        theta = target.initial((*kernel.axes, 6), generator).reshape(
            *kernel.axes, *batch, *target.space.event_shape
        )
        state = kernel.init(target, theta, ONE)
        for _ in range(20):
            state, _ = kernel.step(target, state, ONE, generator)
        return kernel.draws(state).reshape(6, -1)

    row = walk((6,))
    assert torch.equal(walk((2, 3)), row)
    assert torch.equal(walk((1, 2, 3)), row)


@pytest.mark.parametrize("name", ["dmala", "pt"])
def test_a_prepared_kernel_refuses_another_inverse_temperature(name: str) -> None:
    kernel = DMALA(1.0) if name == "dmala" else ParallelTempering(DMALA(1.0), LADDER, SIZES)
    prepared = kernel.prepared(ORDINAL, ONE)
    assert prepared is not kernel
    generator = torch.Generator().manual_seed(0)
    state = prepared.init(ORDINAL, ORDINAL.initial((*kernel.axes, 5), generator), ONE)
    prepared.step(ORDINAL, state, ONE.clone(), generator)
    with pytest.raises(ValueError, match=r"^beta must be the inverse temperature that the kernel was"):
        prepared.step(ORDINAL, state, 0.5 * ONE, generator)
