"""The mode that is found against all states and all flips of a small RBM."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from metrics.two_sample.mode_search import find_mode
from targets.models.rbm import RBM


def rugged(seed: int, dtype: torch.dtype = torch.float64) -> RBM:
    """An RBM of 9 units with several local maxima."""
    rbm = RBM(9, 6).requires_grad_(False)
    generator = torch.Generator().manual_seed(seed)
    rbm.weight.copy_(3 * torch.randn(6, 9, generator=generator, dtype=torch.float64))
    rbm.hidden_bias.copy_(torch.randn(6, generator=generator, dtype=torch.float64))
    rbm.visible_bias.copy_(-rbm.weight.sum(0) / 2)
    return rbm.to(dtype)


def local_maxima(rbm: RBM) -> Tensor:
    """Numbers of the states that no single flip makes more likely, by trying all."""
    states = rbm.space.states()
    energies = rbm.double().log_prob(states)
    flips = torch.eye(9, dtype=torch.float64)
    neighbours = rbm.space.index((states.unsqueeze(1) - flips).abs())
    return (energies[neighbours] <= energies.unsqueeze(1)).all(1).nonzero().flatten()


@pytest.mark.parametrize("seed", range(8))
def test_no_flip_is_more_likely_and_no_image_is(seed: int) -> None:
    rbm = rugged(seed)
    images = rbm.initial((20,), torch.Generator().manual_seed(seed))
    found = find_mode(rbm, images.to(torch.uint8))
    assert found.shape == (1, 9)
    assert rbm.log_prob(found).item() >= rbm.log_prob(images).max().item()
    assert rbm.space.index(found)[0] in local_maxima(rbm)


def test_with_all_states_as_images_it_is_the_most_likely_state_of_all() -> None:
    rbm = rugged(1)
    assert len(local_maxima(rbm)) > 1, "with one maximum the image and the mode would be the same"
    states = rbm.space.states()
    assert torch.equal(find_mode(rbm, states)[0], states[rbm.log_prob(states).argmax()])


def test_the_climb_takes_the_steepest_flip_from_the_best_image() -> None:
    rbm = rugged(2)
    images = rbm.initial((5,), torch.Generator().manual_seed(5))
    state = images[rbm.log_prob(images).argmax()]
    for _ in range(100):
        flipped = [(rbm.log_prob(other).item(), other) for other in (state - torch.eye(9).double()).abs()]
        best = max(flipped, key=lambda pair: pair[0])
        if best[0] <= rbm.log_prob(state).item():
            break
        state = best[1]
    assert not torch.equal(state, images[rbm.log_prob(images).argmax()])
    assert torch.equal(find_mode(rbm, images)[0], state)


def test_it_has_the_type_of_the_target_and_leaves_it_alone() -> None:
    rbm = rugged(3, torch.float32)
    found = find_mode(rbm, torch.zeros(1, 9, dtype=torch.uint8))
    assert found.dtype == torch.float32
    assert rbm.weight.dtype == torch.float32
    assert torch.equal(found.double(), find_mode(rugged(3), torch.zeros(1, 9)))


@pytest.mark.parametrize("images", [torch.zeros(0, 9), torch.zeros(3, 8), torch.zeros(9)])
def test_images_of_another_shape_are_refused(images: Tensor) -> None:
    with pytest.raises(ValueError, match="images must have 9 pixels, the shape"):
        find_mode(rugged(0), images)
