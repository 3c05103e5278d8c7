"""Validation while a model learns: its score by enumeration, and the best average stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from runner.models.training import Training, TrainingError, ValidationSettings
from runner.models.training import validation as validation_module
from runner.models.training.validation import Score, Validation
from samplers import ACS, DMALA, Gibbs
from targets import RBM, Real
from tests.support import training as plain
from tests.support.training import assert_same, halves, log_likelihood, parameters, small_rbm

HELD_OUT = halves(30, seed=9)


def rbm() -> RBM:
    return small_rbm(scale=1.0).requires_grad_(False)


def training(
    scoring: ValidationSettings | None = None,
    held_out: Tensor | None = HELD_OUT,
    records: int = 100,
    **more: Any,
) -> Training:
    how = plain.settings(**{"averaging": 0.7, "validate_every": 4, **more})
    scoring = scoring or ValidationSettings(20, chains=5)
    options = {"held_out": held_out, "scoring": scoring, "records": records}
    return plain.training(DMALA(0.3), how, model=rbm(), **options)


def exact(model: RBM, values: Sequence[Tensor]) -> float:
    """Mean exact log-likelihood of the held-out images under the model with these parameters."""
    with torch.no_grad():
        for own, value in zip(model.parameters(), values, strict=True):
            own.copy_(value)
        return float(log_likelihood(model, HELD_OUT))


def test_the_score_is_the_exact_log_likelihood_of_the_average() -> None:
    """Within 0.05 nats; the parameters themselves, which the average lags behind, are 0.2 away."""
    run = training(ValidationSettings(300, chains=300), iterations=40, validate_every=40, averaging=0.9)
    run.advance(40)
    assert run.selection.underway
    average, raw = run.optimiser.averaged, list(run.target.parameters())
    expected, other = exact(rbm(), average), exact(rbm(), raw)
    while not run.finished:
        run.advance(10)
    (score,) = run.selection.scores
    assert score.iteration == 40
    assert abs(score.log_likelihood - expected) < 0.05
    assert 0 < score.standard_error < 0.05
    assert abs(expected - other) > 0.2
    assert run.selection.best == score
    assert torch.equal(parameters(run.target), torch.cat([value.flatten() for value in average]))


def test_a_walk_is_the_same_however_it_is_cut_and_whenever_it_is_made() -> None:
    how = ValidationSettings(31, chains=6, sampler=Gibbs("systematic"))
    found = []
    for piece in (1, 7, 100):
        walk = Validation(rbm(), HELD_OUT, how, seed=2)
        walk.begin(17, list(rbm().parameters()))
        score = None
        while score is None:
            score = walk.advance(piece)
        assert not walk.underway
        found.append(score)
    assert found[0] == found[1] == found[2]
    other = Validation(rbm(), HELD_OUT, how, seed=2)
    other.begin(18, list(rbm().parameters()))
    assert other.advance(100) != found[0]


def test_no_more_than_some_images_are_scored_evenly_spaced(monkeypatch: pytest.MonkeyPatch) -> None:
    def scored(images: Tensor) -> float:
        walk = Validation(rbm(), images, ValidationSettings(5, chains=4), seed=2)
        walk.begin(1, list(rbm().parameters()))
        score = walk.advance(5)
        assert score is not None
        return score.log_likelihood

    all_of_them, every_fifth = scored(HELD_OUT), scored(HELD_OUT[::5])
    monkeypatch.setattr(validation_module, "IMAGES", 6)
    assert scored(HELD_OUT) == every_fifth != all_of_them
    gap = rbm().log_prob(HELD_OUT.double()).mean() - rbm().log_prob(HELD_OUT[::5].double()).mean()
    assert all_of_them - every_fifth == pytest.approx(float(gap), abs=1e-12)


def scripted(monkeypatch: pytest.MonkeyPatch, values: dict[int, float]) -> list[Tensor]:
    """Lets validations find these values, by iteration; returns a list that gathers what they looked at."""
    seen: list[Tensor] = []

    def advance(self: Validation, temperatures: int) -> Score:
        seen.append(parameters(self.model).clone())
        self.annealing = None
        return Score(self.iteration, values[self.iteration], 0.1)

    monkeypatch.setattr(Validation, "advance", advance)
    return seen


@pytest.mark.parametrize(
    ("values", "best"),
    [([-5.0, -3.0, -4.0], 1), ([-3.0, -3.0, -4.0], 0), ([-5.0, -4.0, -3.0], 2)],
)
def test_the_best_average_is_kept(values: list[float], best: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = scripted(monkeypatch, dict(zip((5, 10, 12), values, strict=True)))
    run = training(validate_every=5)
    run.advance(15)
    assert run.finished
    assert [score.iteration for score in run.selection.scores] == [5, 10, 12]
    assert run.selection.best == run.selection.scores[best]
    assert torch.equal(parameters(run.target), seen[best])
    assert not torch.equal(seen[0], seen[1])
    run.advance(3)
    assert torch.equal(parameters(run.target), seen[best])


def test_the_records_hold_what_was_found_since_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, {4: -4.0, 8: -3.0, 12: -2.0})
    run, few = (training(averaging=0.5, cd_steps=1, records=records) for records in (3, 1))
    run.advance(100)
    few.advance(100)
    names = ("validation_log_likelihood", "validation_log_likelihood_se")
    found = [(r["iteration"], *(r["values"][name] for name in names)) for r in run.history.records]
    assert found == [(4, -4.0, 0.1), (8, -3.0, 0.1), (12, -2.0, 0.1)]
    assert [r["values"][names[0]] for r in few.history.records] == [-2.0]
    assert len(few.selection.scores) == 3
    assert 0 < run.selection.seconds < run.seconds


def test_validation_changes_nothing_of_the_learning() -> None:
    """But the choice at the end: the same chains, averages and records."""
    without, with_it = training(validate_every=None), training()
    without.advance(12)
    with_it.advance(1000)
    assert with_it.finished
    assert with_it.chains.evaluations == without.chains.evaluations
    assert torch.equal(with_it.samples(7), without.samples(7))
    assert_same(with_it.optimiser.average, without.optimiser.average)
    assert not without.selection.scores
    assert without.selection.best is None


def test_a_likelihood_above_zero_stops_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, {4: -4.0, 8: 0.5})
    run = training()
    with pytest.raises(TrainingError) as raised:
        run.advance(100)
    assert str(raised.value) == (
        "Training stopped at iteration 8, where the validation gives a mean log-likelihood of 0.5 nats, "
        "above 0, which no model of discrete data has; there is no checkpoint yet."
    )


@pytest.mark.parametrize("where", ["model", "average"])
def test_values_that_are_not_finite_stop_the_training(where: str) -> None:
    """A NaN in the model is found before its validation begins, one in the average by the weights."""
    run = training()
    run.advance(3 if where == "model" else 4)
    said = "iteration 4, where the loss is not finite"
    if where == "model":
        run.target.weight.data[0, 0] = torch.nan
    else:
        assert run.selection.validation is not None
        run.selection.validation.begin(4, [torch.full_like(p, torch.nan) for p in run.target.parameters()])
        said = "iteration 4, where the validation has failed: importance weights"
    with pytest.raises(TrainingError, match=said):
        run.advance(100)


@pytest.mark.parametrize("held_out", [None, HELD_OUT[:0]])
def test_what_cannot_be_validated_is_refused(held_out: Tensor | None) -> None:
    with pytest.raises(ValueError, match="validate_every needs validation images, of which there are none"):
        training(held_out=held_out)
    model = rbm()
    model.space = Real(8)  # type: ignore[assignment]
    with pytest.raises(ValueError, match="annealing needs a binary, ordinal or categorical space"):
        Validation(model, HELD_OUT, ValidationSettings(5), 0)


def test_acs_may_move_the_chains_of_a_validation() -> None:
    """A kernel with a position in a cycle, which is whole and carries no evaluation."""
    sampler = ACS(cycle_length=4, step_size=1.0, min_step_size=0.2, balancing=0.6)
    run = training(ValidationSettings(9, chains=4, sampler=sampler))
    run.advance(1000)
    assert len(run.selection.scores) == 3
