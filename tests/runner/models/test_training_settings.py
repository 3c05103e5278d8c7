"""The settings of trainings and validations: what is refused, and what of them names a model."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

from runner.config.compose import compose_by_groups
from runner.config.overrides import Names
from runner.execution.errors import UserError
from runner.models.recipe import recipe_of
from runner.models.training import ValidationSettings
from runner.models.training_settings import LATER, essential
from runner.tasks.run_identity import run_ids
from samplers import DMALA, DULA, Gibbs, ParallelTempering
from tests.support.commands import assert_refused
from tests.support.training import halves, settings
from tests.support.tunable import tunable

TRAINING: list[tuple[dict[str, Any], str]] = [
    ({"method": "dc"}, "method must be one of cd, pcd, 'dc' was given"),
    ({"method": None}, "method must be one of"),
    ({"cd_steps": 0}, "cd_steps must be a whole number of at least 1, 0 was given"),
    ({"cd_steps": 1.5}, "cd_steps must be a whole number"),
    ({"cd_steps": True}, "cd_steps must be a whole number"),
    ({"iterations": -3}, "iterations must be a whole number of at least 1, -3 was given"),
    ({"batch": 0}, "batch must be"),
    ({"chains": "many"}, "chains must be"),
    ({"learning_rate": 0.0}, "learning_rate must be a positive number, 0.0 was given"),
    ({"learning_rate": math.nan}, "learning_rate must be a positive number"),
    ({"learning_rate_decay": "cosine"}, "learning_rate_decay must be one of linear, none"),
    ({"weight_decay": -0.1}, "weight_decay must be a number from 0 to 1, -0.1 was given"),
    ({"averaging": 1.0}, "averaging must be a number from 0 to"),
    ({"tune_every": 0}, "tune_every must be null or a whole number of at least 1, 0 was given"),
    ({"buffer": 6}, "buffer must be at least the number of chains, 7, 6 was given"),
    ({"buffer": 0}, "buffer must be null or a whole number of at least 1, 0 was given"),
    ({"buffer": 20.5}, "buffer must be null or a whole number of at least 1, 20.5 was given"),
    ({"buffer": 20, "method": "cd"}, "buffer must be null with method=cd, whose chains start from the data"),
    ({"buffer": 20, "reinitialisation": 1.5}, "reinitialisation must be a number from 0 to 1, 1.5 was given"),
    ({"reinitialisation": 0.1}, "reinitialisation must be 0 without a buffer, 0.1 was"),
    ({"warm_up": -1}, "warm_up must be a whole number of at least 0, -1 was given"),
    ({"warm_up": 0.5}, "warm_up must be a whole number of at least 0, 0.5 was given"),
    ({"gradient_penalty": -1.0}, "gradient_penalty must be a number of at least 0, -1.0 was given"),
    ({"gradient_penalty": "x"}, "gradient_penalty must be a number of at least 0, 'x' was given"),
    ({"energy_penalty": math.inf}, "energy_penalty must be a number of at least 0, inf was given"),
    ({"validate_every": 0}, "validate_every must be null or a whole number of at least 1, 0 was given"),
]
VALIDATION: list[tuple[dict[str, Any], str]] = [
    ({"temperatures": 0}, "temperatures must be a whole number of at least 2 or a schedule"),
    ({"schedule": "log"}, "schedule must be one of linear, pieces, sigmoid, 'log' was given"),
    ({"chains": 1}, "chains must be a whole number of at least 2, 1 was given"),
    ({"sampler": DULA(0.1)}, "annealing needs an exact kernel"),
    ({"sampler": tunable(DMALA)}, "DMALA has step_size left to tuning"),
    ({"sampler": ParallelTempering(Gibbs(), ladder=[1.0, 0.5])}, "has several replicas"),
]


@pytest.mark.parametrize(
    ("make", "given", "said"),
    [
        (make, *case)
        for make, cases in ((settings, TRAINING), (ValidationSettings, VALIDATION))
        for case in cases
    ],
)
def test_settings_that_make_no_sense_are_refused(make: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        make(**given)
    assert "\n" not in str(raised.value)


def test_settings_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings().batch = 3  # type: ignore[misc]


LEARN = (
    "scale=smoke",
    "task=learn",
    "target=rbm",
    "target.dataset=digits",
    "target.n_hidden=4",
    "sampler=gibbs",
)
SAMPLER = "task.validation.sampler"
KEYS = [
    ("task.validation=null", "task.validation must be a group of keys, None was given."),
    ("task.validation.temperatures=1", "task.validation.temperatures must be a whole number of at least 2"),
    ("task.validation.chains=1", "task.validation.chains must be a whole number of at least 2, 1 was given."),
    ("task.validation.schedule=log", "task.validation.schedule must be one of linear, pieces, sigmoid"),
    (f"{SAMPLER}=null", f"{SAMPLER} must be a group of keys, None was given."),
    (f"{SAMPLER}.step_size=-1", f"{SAMPLER}.step_size must be a positive number or 'auto'"),
    (f"{SAMPLER}.step_size=auto", "task.validation: annealing needs an exact kernel"),
    (f"{SAMPLER}._target_=targets.models.rbm.RBM", SAMPLER),
    ("task.validate_every=0", "task.validate_every must be null or a whole number of at least 1, 0"),
    ("task.buffer=50", "task.buffer must be at least the number of chains, 100, 50 was given."),
    (
        "target.dataset=plain.npz",
        "task.validate_every must be null for plain, which has no validation",
    ),
]


def test_a_key_is_refused_in_one_sentence(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("plain.npz", train=halves(120).numpy(), test=halves(20, seed=3).numpy())
    assert_refused((*LEARN, "task.validate_every=2"), KEYS)
    config = compose_by_groups(
        [*LEARN, "task.validate_every=2", "+task.validation.chain=1"], Names([]).groups
    )
    with pytest.raises(UserError, match=r"Unknown key 'task.validation.chain'; did you mean 'chains'\?"):
        recipe_of(config, 0)


# --- names ----------------------------------------------------------------------------------------------


def test_a_later_key_at_its_default_is_no_part_of_a_name() -> None:
    """Models and runs that were named before the keys came keep their names."""
    groups = Names([]).groups

    def names(*changes: str) -> tuple[dict[str, Any], str, str]:
        config = compose_by_groups([*LEARN, *changes], groups)
        recipe = recipe_of(config, 0)
        json.dumps(recipe.content)
        return recipe.content["training"], recipe.model_id, run_ids(config, "cpu", [0])[0]

    training, *plain = names()
    assert not {*LATER, "validation"} & set(training)
    for same in ("task.validation.chains=7", "task.buffer=null"):
        assert names(same)[1:] == tuple(plain), same
    changes = [
        "task.buffer=200",
        "task.buffer=200 task.reinitialisation=0.1",
        "task.warm_up=3",
        "task.gradient_penalty=0.1",
        "task.energy_penalty=0.1",
        "task.validate_every=3",
        "task.validate_every=3 task.validation.chains=7",
        "task.validate_every=3 task.validation.sampler.step_size=0.2",
    ]
    found = [tuple(plain), *(names(*change.split())[1:] for change in changes)]
    for ids in zip(*found, strict=True):
        assert len(set(ids)) == len(found)


def test_essential_keeps_what_changes_something() -> None:
    given = {"method": "pcd", "buffer": None, "warm_up": 0, "validation": {"chains": 3}, "energy_penalty": 0}
    assert essential(given) == {"method": "pcd"}
    more = {"warm_up": 2, "validate_every": 5}
    assert essential(given | more) == {"method": "pcd", "validation": {"chains": 3}, **more}
