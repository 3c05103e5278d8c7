"""Reference samples of an RBM: their distribution by enumeration, stored draws, the report, resuming."""

from __future__ import annotations

import io
import math

import pytest
import torch
from torch import Tensor

from metrics.two_sample.reference_chains import ReferenceChains, ReferencePair
from targets.models.rbm import RBM
from tests.support.two_sample import double_loops

IMAGES = (torch.rand(30, 6, generator=torch.Generator().manual_seed(4)) < 0.4).to(torch.uint8)


def model(weight: float = 1.0) -> RBM:
    rbm = RBM(6, 4, mean=IMAGES.double().mean(0)).requires_grad_(False)
    generator = torch.Generator().manual_seed(3)
    rbm.weight.copy_(weight * torch.randn(4, 6, generator=generator, dtype=torch.float64))
    rbm.hidden_bias.copy_(torch.randn(4, generator=generator, dtype=torch.float64))
    return rbm


def reference_pair(
    rbm: RBM, images: Tensor, steps: int, chains: int, keeps: int, seed: int = 0
) -> ReferencePair:
    run = ReferenceChains(rbm, images, steps, chains, keeps, seed)
    run.advance(steps)
    return run.result()


def frequencies(rbm: RBM, draws: Tensor) -> Tensor:
    return rbm.space.index(draws).bincount(minlength=64).double() / len(draws)


def test_both_sets_have_the_distribution_of_the_model_whatever_their_start() -> None:
    """20,000 independent chains of 30 steps: |empirical - exact| summed over 64 states.

    The sum has mean below sqrt(64 / 20000) = 0.057 and exceeds its mean by 0.037 with probability 1e-6
    (McDiarmid). At the start, 6 means of 20,000 bits: 5.2 standard errors of at most 0.0036 each.
    """
    rbm = model()
    run = ReferenceChains(rbm, IMAGES, steps=30, chains=20_000, keeps=1)
    reference, held_out = run.theta
    assert (reference.mean(0) - rbm.data_mean).abs().max().item() < 0.019
    assert set(map(tuple, held_out.int().tolist())) == set(map(tuple, IMAGES.tolist()))
    run.advance(30)
    for draws in run.theta:
        assert (frequencies(rbm, draws) - rbm.probabilities()).abs().sum().item() < 0.057 + 0.037
    assert not torch.equal(*run.theta)


def test_the_last_draws_come_first_and_the_others_are_of_the_second_half() -> None:
    rbm = model()
    run = ReferenceChains(rbm, IMAGES, steps=21, chains=7, keeps=3, seed=5)
    seen = {}
    while not run.done:
        run.advance(1)
        seen[run.step] = run.theta.clone()
    found = run.result()
    for place, step in enumerate((21, 18, 15)):
        rows = slice(7 * place, 7 * (place + 1))
        assert torch.equal(found.reference[rows], seen[step][0])
        assert torch.equal(found.held_out[rows], seen[step][1])
    assert found.reference.shape == found.held_out.shape == (21, 6)
    assert found.reference.dtype == rbm.weight.dtype


def test_the_report_is_of_these_draws() -> None:
    rbm = model()
    found = reference_pair(rbm, IMAGES, steps=40, chains=9, keeps=2)
    expected_u = double_loops(found.reference[:9], found.held_out[:9])[1]
    groups = [math.log(double_loops(group, found.reference)[0]) for group in found.held_out.split(9)]
    report = found.report
    assert report["mmd_u"] == pytest.approx(expected_u, abs=1e-12)
    assert report["log_mmd"] == pytest.approx(sum(groups) / 2, abs=1e-10)
    assert report["log_mmd_sd"] == pytest.approx(abs(groups[0] - groups[1]) / 2**0.5, abs=1e-10)
    assert report["log_mmd_groups"] == 2
    assert report["log_prob_reference"] == pytest.approx(rbm.log_prob(found.reference).mean().item())
    assert report["log_prob_held_out"] == pytest.approx(rbm.log_prob(found.held_out).mean().item())
    assert 0 < report["p_value"] <= 1
    assert report["mmd_u_sd"] > 0


def test_sets_that_mixed_agree_with_the_formula_and_with_each_other() -> None:
    found = reference_pair(model(), IMAGES, steps=200, chains=400, keeps=4, seed=1)
    assert found.report["log_mmd"] == pytest.approx(found.report["log_mmd_formula"], abs=0.3)
    assert found.report["rhat"] < 1.05
    assert abs(found.report["mmd_u"]) < 5 * found.report["mmd_u_sd"]
    assert found.report["p_value"] > 1e-3


def test_chains_that_did_not_forget_their_start_are_found_out() -> None:
    """Two modes far apart, noise that begins near both, images that all lie in one."""
    rbm = RBM(12, 4).requires_grad_(False)
    rbm.weight.fill_(4.0)
    rbm.hidden_bias.fill_(-24.0)
    rbm.visible_bias.fill_(-8.0)
    found = reference_pair(rbm, torch.ones(5, 12, dtype=torch.uint8), steps=40, chains=50, keeps=2)
    assert found.report["p_value"] == pytest.approx(0.001)
    assert found.report["mmd_u"] > 5 * found.report["mmd_u_sd"]
    assert found.report["rhat"] > 1.5


def same(one: ReferencePair, other: ReferencePair) -> bool:
    draws = torch.equal(one.reference, other.reference) and torch.equal(one.held_out, other.held_out)
    return draws and one.report == other.report


def test_a_saved_reference_sample_continues_with_the_same_bits() -> None:
    whole = reference_pair(model(), IMAGES, steps=30, chains=8, keeps=3)
    for cut in (1, 17, 26):
        first = ReferenceChains(model(), IMAGES, steps=30, chains=8, keeps=3)
        first.advance(cut)
        stream, state = io.BytesIO(), first.state_dict()
        first.advance(2)  # what was taken down stays as it was
        torch.save(state, stream)
        stream.seek(0)
        second = ReferenceChains(model(), IMAGES, steps=30, chains=8, keeps=3)
        second.load_state_dict(torch.load(stream, weights_only=True))
        assert second.step == cut
        second.advance(1000)
        assert second.step == 30
        assert same(second.result(), whole)
    assert not same(reference_pair(model(), IMAGES, steps=30, chains=8, keeps=3, seed=1), whole)
    short = ReferenceChains(model(), IMAGES, steps=10, chains=8, keeps=2)
    short.advance(9)
    with pytest.raises(ValueError, match="the reference sample needs 10 steps, 9 were taken"):
        short.result()
    for chains, keeps, words in (
        (4, 3, r"theta must have the shape \(2, 4, 6\), \(2, 8, 6\)"),
        (8, 2, "kept must"),
    ):
        other = ReferenceChains(model(), IMAGES, steps=30, chains=chains, keeps=keeps)
        with pytest.raises(ValueError, match=words):
            other.load_state_dict(state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 1}, "steps must be a whole number of at least 2, 1 was given"),
        ({"chains": 1}, "chains must be a whole number of at least 2, 1 was given"),
        ({"keeps": 0}, "keeps must be a whole number of at least 1, 0 was given"),
        ({"steps": 10, "keeps": 6}, r"keeps must be at most half the steps \(5\), 6 was given"),
        ({"data": torch.zeros(3, 5)}, r"data must hold images of 6 pixels, the shape \(3, 5\) was given"),
    ],
)
def test_bad_options_are_refused(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ReferenceChains(model(), **{"data": IMAGES, **options})
