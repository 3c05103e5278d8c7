"""Annealing of an RBM with products by oneDNN: that by MKL but for rounding, with the same bits alone."""

from __future__ import annotations

import pytest
import torch

from metrics.likelihood.ais_schedule import schedule
from metrics.likelihood.rbm_annealing import RBMAnnealing, UntemperedRBMAnnealing, reference_draws
from targets import RBM, Streams
from targets.compiling import onednn
from tests.support.annealing import random_rbm

STEPS, SEEDS = 40, (4, 9, 2)

pytestmark = pytest.mark.skipif(
    not hasattr(torch.ops.mkldnn, "_linear_pointwise"), reason="this torch has no oneDNN"
)


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of chains of the products that oneDNN has done, on a CPU that is not from Intel."""
    done: list[int] = []
    product = onednn.product

    def noted(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        done.append(len(a))
        return product(a, b)

    monkeypatch.setattr(onednn, "product", noted)
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: False)
    monkeypatch.setattr(onednn, "SMALLEST", 16 * 70 * 50)  # and 15 * 71 * 53 is more
    return done


def annealed(kind: type[RBMAnnealing], rbm: RBM, chains: int, seeds: tuple[int, ...] = SEEDS) -> RBMAnnealing:
    streams = Streams(seeds, "walk")
    run = kind(rbm, schedule(STEPS), reference_draws(rbm, chains, streams), streams)
    run.advance(STEPS)
    return run


@pytest.mark.parametrize("kind", [RBMAnnealing, UntemperedRBMAnnealing])
def test_weights_and_states_are_those_by_mkl(
    kind: type[RBMAnnealing], products: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rbm = random_rbm(70, 50, scale=0.3).float()
    found = annealed(kind, rbm, 16)
    # The hidden logits at the start, and two products a step, for each seed.
    assert products == [16] * (1 + 2 * STEPS) * len(SEEDS)
    monkeypatch.setattr(onednn, "has_intel_cpu", lambda: True)
    products.clear()
    expected = annealed(kind, rbm, 16)
    assert not products
    # A state would differ only if a random number lay within rounding of a probability.
    assert torch.equal(found.visible, expected.visible)
    torch.testing.assert_close(found.log_weights, expected.log_weights, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("kind", [RBMAnnealing, UntemperedRBMAnnealing])
@pytest.mark.parametrize(("visible", "hidden", "chains"), [(70, 50, 16), (71, 53, 15)])
def test_a_seed_has_the_same_bits_alone_and_after_a_stop(
    kind: type[RBMAnnealing], visible: int, hidden: int, chains: int, products: list[int]
) -> None:
    """Also where the blocks of the seeds do not begin at the places where tensors of their own do."""
    rbm = random_rbm(visible, hidden, scale=0.3).float()
    together, alone = annealed(kind, rbm, chains), annealed(kind, rbm, chains, SEEDS[1:2])
    assert products
    streams = Streams(SEEDS, "walk")
    stopped = kind(rbm, schedule(STEPS), reference_draws(rbm, chains, streams), streams)
    stopped.advance(7)
    saved = stopped.state_dict()
    streams = Streams(SEEDS, "walk")
    resumed = kind(rbm, schedule(STEPS), reference_draws(rbm, chains, streams), streams)
    resumed.load_state_dict(saved)
    resumed.advance(STEPS)
    for weights, states in (
        (alone.log_weights[0], alone.visible[0]),
        (resumed.log_weights[1], resumed.visible[1]),
    ):
        assert torch.equal(together.log_weights[1], weights)
        assert torch.equal(together.visible[1], states)


def test_small_products_and_float64_are_left_to_mkl(products: list[int]) -> None:
    annealed(RBMAnnealing, random_rbm(70, 50, scale=0.3).float(), 15)
    annealed(RBMAnnealing, random_rbm(70, 50, scale=0.3), 16)
    assert not products
