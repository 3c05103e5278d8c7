"""Binary states as bits: NumPy's, and back."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from metrics.metric import Context
from metrics.statistics.bits import packed, unpacked
from metrics.statistics.kept_draws import KeptDraws
from runner.problem.cached_reference_sample import stored_states
from samplers import Gibbs
from samplers.kernel import Info
from targets.models.rbm import RBM


@pytest.mark.parametrize("d", [1, 7, 8, 9, 784])
def test_bits_are_those_of_numpy(d: int) -> None:
    states = torch.rand((3, 2, d), generator=torch.Generator().manual_seed(d)).round()
    bits = packed(states)
    assert np.array_equal(bits.numpy(), np.packbits(states.numpy().astype(np.uint8), axis=-1))
    assert bits.dtype == unpacked(bits, d).dtype == torch.uint8
    assert torch.equal(unpacked(bits, d).to(states), states)


def test_kept_binary_draws_take_a_bit_a_coordinate() -> None:
    rbm = RBM(13, 2).float()
    context = Context(rbm, Gibbs(), seeds=2, chains=3, device=torch.device("cpu"))
    kept = KeptDraws(context, most=4, burn_in=0, steps=4)
    draws = [rbm.initial((2, 3), torch.Generator().manual_seed(step)) for step in range(1, 5)]
    for step, theta in enumerate(draws, 1):
        kept.update(step, theta, Info(torch.ones(2, 3), torch.zeros(2, 3), 1))
    assert kept.rows.shape == (4, 2, 3, 2)
    found = kept.of_run(1)
    assert np.array_equal(found["theta"], torch.stack([theta[1] for theta in draws], 1).numpy())
    assert np.array_equal(
        found["lp"], torch.stack([rbm.log_prob(theta[1]) for theta in draws], 1).detach().numpy()
    )


def test_a_reference_sample_of_an_earlier_version_is_read() -> None:
    states = torch.rand((5, 13)).round()
    for stored in (packed(states), states.to(torch.uint8)):
        assert torch.equal(stored_states(stored, 13).to(states), states)
