"""Validation while a model learns: its score by enumeration, the best average kept, what is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from metrics.likelihood.rbm_log_partition import exact_rbm_log_partition
from runner.config.compose import compose
from runner.execution.errors import UserError
from runner.models.recipe import data_of, recipe_of
from runner.models.training import (
    Training,
    TrainingError,
    TrainingImages,
    TrainingSettings,
    ValidationSettings,
)
from runner.models.training import validation as validation_module
from runner.models.training.training_settings import LATER, essential
from runner.models.training.validation import Score, Validation
from runner.tasks.run_identity import run_ids
from samplers.discrete.acs import ACS
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.gibbs import Gibbs
from samplers.tempering.parallel_tempering import ParallelTempering
from targets.models.rbm import RBM
from targets.spaces import Real
from tests.support.tunable import tunable

PIXELS = 8


def images(rows: int = 60, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    half = torch.arange(PIXELS) < PIXELS // 2
    flips = torch.rand((rows, PIXELS), generator=generator) < 0.1
    return ((torch.arange(rows).unsqueeze(-1) % 2).bool() ^ half ^ flips).to(torch.uint8)


HELD_OUT = images(30, 9)


def machine() -> RBM:
    return RBM(PIXELS, 4, images().double().mean(0), seed=1).requires_grad_(False)


def training(scoring: ValidationSettings | None = None, **changed: Any) -> Training:
    plain: dict[str, Any] = {"method": "pcd", "cd_steps": 2, "iterations": 12, "batch": 10, "chains": 7}
    more = {"learning_rate": 0.05, "averaging": 0.7, "validate_every": 4}
    how = TrainingSettings(**{**plain, **more, **changed})
    scoring = scoring or ValidationSettings(20, chains=5)
    return Training(machine(), DMALA(0.3), TrainingImages(images(), HELD_OUT), how, 5, scoring=scoring)


def parameters(model: torch.nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def exact(model: RBM, values: Sequence[Tensor]) -> float:
    """Mean exact log-likelihood of the held-out images under the model with these parameters."""
    with torch.no_grad():
        for own, value in zip(model.parameters(), values, strict=True):
            own.copy_(value)
        return float(model.log_prob(HELD_OUT.double()).mean()) - exact_rbm_log_partition(model)


def test_the_score_is_the_exact_log_likelihood_of_the_average() -> None:
    """Within 0.05 nats; the parameters themselves, which the average lags behind, are 0.2 away."""
    run = training(ValidationSettings(300, chains=300), iterations=40, validate_every=40, averaging=0.9)
    run.advance(40)
    assert run.validating
    average, raw = run.optimiser.averaged, list(run.target.parameters())
    truth, other = exact(machine(), average), exact(machine(), raw)
    while not run.finished:
        run.advance(10)
    (score,) = run.scores
    assert score.iteration == 40
    assert abs(score.log_likelihood - truth) < 0.05
    assert 0 < score.standard_error < 0.05
    assert abs(truth - other) > 0.2
    assert run.best == score
    assert torch.equal(parameters(run.target), torch.cat([value.flatten() for value in average]))


def test_a_walk_is_the_same_however_it_is_cut_and_whenever_it_is_made() -> None:
    how = ValidationSettings(31, chains=6, sampler=Gibbs("systematic"))
    found = []
    for piece in (1, 7, 100):
        walk = Validation(machine(), HELD_OUT, how, seed=2)
        walk.begin(17, list(machine().parameters()))
        score = None
        while score is None:
            score = walk.advance(piece)
        assert not walk.underway
        found.append(score)
    assert found[0] == found[1] == found[2]
    other = Validation(machine(), HELD_OUT, how, seed=2)
    other.begin(18, list(machine().parameters()))
    assert other.advance(100) != found[0]


def test_no_more_than_the_first_images_are_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    def scored(images: Tensor) -> float:
        walk = Validation(machine(), images, ValidationSettings(5, chains=4), seed=2)
        walk.begin(1, list(machine().parameters()))
        score = walk.advance(5)
        assert score is not None
        return score.log_likelihood

    all_of_them, seven = scored(HELD_OUT), scored(HELD_OUT[:7])
    monkeypatch.setattr(validation_module, "IMAGES", 7)
    assert scored(HELD_OUT) == seven != all_of_them
    gap = machine().log_prob(HELD_OUT.double()).mean() - machine().log_prob(HELD_OUT[:7].double()).mean()
    assert all_of_them - seven == pytest.approx(float(gap), abs=1e-12)


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
def test_the_best_average_is_the_model_in_the_end(
    values: list[float], best: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = scripted(monkeypatch, dict(zip((5, 10, 12), values, strict=True)))
    run = training(validate_every=5)
    run.advance(15)
    assert run.finished
    assert [score.iteration for score in run.scores] == [5, 10, 12]
    assert run.best == run.scores[best]
    assert torch.equal(parameters(run.target), seen[best])
    assert not torch.equal(seen[0], seen[1])
    run.advance(3)
    assert torch.equal(parameters(run.target), seen[best])


def test_the_records_hold_what_was_found_since_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, {4: -4.0, 8: -3.0, 12: -2.0})
    how = TrainingSettings("pcd", 1, 12, 10, 7, averaging=0.5, validate_every=4)
    run = Training(machine(), DMALA(0.3), TrainingImages(images(), HELD_OUT), how, 5, records=3)
    few = Training(machine(), DMALA(0.3), TrainingImages(images(), HELD_OUT), how, 5, records=1)
    run.advance(100)
    few.advance(100)
    assert [
        (
            r["iteration"],
            r["values"]["validation_log_likelihood"],
            r["values"]["validation_log_likelihood_se"],
        )
        for r in run.history
    ] == [(4, -4.0, 0.1), (8, -3.0, 0.1), (12, -2.0, 0.1)]
    assert [r["values"]["validation_log_likelihood"] for r in few.history] == [-2.0]
    assert len(few.scores) == 3
    assert 0 < run.validation_seconds < run.seconds


def test_validation_changes_nothing_of_the_learning() -> None:
    """But the choice at the end: the same chains, averages and records."""
    without, with_it = training(validate_every=None), training()
    without.advance(12)
    with_it.advance(1000)
    assert with_it.finished
    assert with_it.evaluations == without.evaluations
    assert torch.equal(with_it.samples(7), without.samples(7))
    for one, other in zip(with_it.optimiser.average, without.optimiser.average, strict=True):
        assert torch.equal(one, other)
    assert not without.scores
    assert without.best is None


def test_a_likelihood_above_zero_stops_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, {4: -4.0, 8: 0.5})
    run = training()
    with pytest.raises(TrainingError) as raised:
        run.advance(100)
    assert str(raised.value) == (
        "Training stopped at iteration 8, where the validation gives a mean log-likelihood of 0.5 nats, "
        "above 0, which no model of discrete data has; there is no checkpoint yet."
    )


def test_a_model_with_nan_is_found_before_its_validation() -> None:
    run = training()
    run.advance(3)
    run.target.weight.data[0, 0] = torch.nan
    with pytest.raises(TrainingError, match="iteration 4, where the loss is not finite"):
        run.advance(100)


def test_weights_that_are_not_finite_stop_the_training() -> None:
    run = training()
    run.advance(4)
    assert run._scoring is not None
    run._scoring.begin(4, [torch.full_like(p, torch.nan) for p in run.target.parameters()])
    with pytest.raises(
        TrainingError, match="iteration 4, where the validation has failed: importance weights"
    ):
        run.advance(100)


# --- what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"temperatures": 0}, "temperatures must be a whole number of at least 2 or a schedule"),
        ({"schedule": "log"}, "schedule must be one of linear, pieces, sigmoid, 'log' was given"),
        ({"chains": 1}, "chains must be a whole number of at least 2, 1 was given"),
        ({"sampler": DULA(0.1)}, "annealing needs an exact kernel"),
        ({"sampler": tunable(DMALA)}, "DMALA has step_size left to tuning"),
        ({"sampler": ParallelTempering(Gibbs(), ladder=[1.0, 0.5])}, "has several replicas"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        ValidationSettings(**given)
    assert "\n" not in str(raised.value)


def test_what_cannot_be_validated_is_refused() -> None:
    how = TrainingSettings("pcd", 1, 4, 10, 7, validate_every=2)
    for held_out in (None, HELD_OUT[:0]):
        with pytest.raises(
            ValueError, match="validate_every needs validation images, of which there are none"
        ):
            Training(machine(), DMALA(0.3), TrainingImages(images(), held_out), how, 0)
    model = machine()
    model.space = Real(PIXELS)  # type: ignore[assignment]
    with pytest.raises(ValueError, match="annealing needs a binary, ordinal or categorical space"):
        Validation(model, HELD_OUT, ValidationSettings(5), 0)


LEARN = (
    "scale=smoke",
    "task=learn",
    "target=rbm",
    "target.dataset=digits",
    "target.n_hidden=4",
    "sampler=gibbs",
)
SAMPLER = "task.validation.sampler"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "task.validate_every=0",
            "task.validate_every must be null or a whole number of at least 1, 0 was given.",
        ),
        ("task.buffer=50", "task.buffer must be at least the number of chains, 100, 50 was given."),
        ("task.buffer=0", "task.buffer must be null or a whole number of at least 1, 0 was given."),
        ("task.reinitialisation=2", "task.reinitialisation must be a number from 0 to 1, 2 was given."),
        ("task.warm_up=-1", "task.warm_up must be a whole number of at least 0, -1 was given."),
        ("task.gradient_penalty=x", "task.gradient_penalty must be a number of at least 0, 'x' was given."),
        ("task.energy_penalty=-1", "task.energy_penalty must be a number of at least 0, -1 was given."),
        ("task.validation=null", "task.validation must be a group of keys, None was given."),
        (
            "task.validation.temperatures=1",
            "task.validation.temperatures must be a whole number of at least 2",
        ),
        (
            "task.validation.chains=1",
            "task.validation.chains must be a whole number of at least 2, 1 was given.",
        ),
        ("task.validation.schedule=log", "task.validation.schedule must be one of linear, pieces, sigmoid"),
        ("+task.validation.chain=1", "Unknown key 'task.validation.chain'; did you mean 'chains'?"),
        ("task.validation.sampler=null", "task.validation.sampler must be a group of keys, None was given."),
        (f"{SAMPLER}.step_size=-1", "task.validation.sampler.step_size must be a positive number or 'auto'"),
        (f"{SAMPLER}.step_size=auto", "task.validation: annealing needs an exact kernel"),
        (f"{SAMPLER}._target_=targets.models.rbm.RBM", "task.validation.sampler"),
    ],
)
def test_a_key_is_refused_in_one_sentence(given: str, said: str) -> None:
    on = () if "validate_every" in given else ("task.validate_every=2",)
    with pytest.raises(UserError) as raised:
        recipe_of(compose([*LEARN, *on, given]), 0)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_data_set_without_validation_images_is_refused(tmp_path: Path) -> None:
    import numpy as np

    path = tmp_path / "plain.npz"
    np.savez(path, train=images(120).numpy(), test=images(20, 3).numpy())
    config = compose([*LEARN, f"target.dataset={path}", "task.validate_every=2"])
    recipe = recipe_of(config, 0)
    with pytest.raises(UserError, match=r"task.validate_every must be null for .*, which has no validation"):
        data_of(recipe, config)


# --- names ----------------------------------------------------------------------------------------------


def test_a_later_key_at_its_default_is_no_part_of_a_name() -> None:
    """Models and runs that were named before the keys came keep their names."""
    plain = compose(LEARN)
    recipe = recipe_of(plain, 0)
    assert not {*LATER, "validation"} & set(recipe.content["training"])
    ids = {recipe.model_id: "plain"}
    same = recipe_of(compose([*LEARN, "task.validation.chains=7", "task.buffer=null"]), 0)
    assert same.model_id in ids
    assert run_ids(compose([*LEARN, "task.validation.chains=7"]), "cpu", [0]) == run_ids(plain, "cpu", [0])
    changes = [
        ("task.buffer=200",),
        ("task.buffer=200", "task.reinitialisation=0.1"),
        ("task.warm_up=3",),
        ("task.gradient_penalty=0.1",),
        ("task.energy_penalty=0.1",),
        ("task.validate_every=3",),
        ("task.validate_every=3", "task.validation.chains=7"),
        ("task.validate_every=3", "task.validation.sampler.step_size=0.2"),
    ]
    for change in changes:
        other = recipe_of(compose([*LEARN, *change]), 0)
        assert other.model_id not in ids, change
        ids[other.model_id] = str(change)
        json.dumps(other.content)
        assert run_ids(compose([*LEARN, *change]), "cpu", [0]) != run_ids(plain, "cpu", [0])


def test_essential_keeps_what_changes_something() -> None:
    given = {"method": "pcd", "buffer": None, "warm_up": 0, "validation": {"chains": 3}, "energy_penalty": 0}
    assert essential(given) == {"method": "pcd"}
    given |= {"validate_every": 5, "warm_up": 2}
    assert essential(given) == {
        "method": "pcd",
        "warm_up": 2,
        "validate_every": 5,
        "validation": {"chains": 3},
    }


def test_acs_may_move_the_chains_of_a_validation() -> None:
    """A kernel with a position in a cycle, which is whole and carries no evaluation."""
    sampler = ACS(cycle_length=4, step_size=1.0, min_step_size=0.2, balancing=0.6)
    run = training(ValidationSettings(9, chains=4, sampler=sampler))
    run.advance(1000)
    assert len(run.scores) == 3
