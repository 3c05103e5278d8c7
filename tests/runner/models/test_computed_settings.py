"""Runs of earlier versions, whose configurations lack keys of today, beside runs that have them."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest
from omegaconf import DictConfig, OmegaConf, open_dict

from runner.config.compose import compose, options
from runner.config.run_settings import EFFORT, LATER, Settings, flat_settings
from runner.execution.errors import UserError
from runner.models.computed_settings import may_be_tuned, settings_computed
from runner.models.identity import leaves_open
from runner.report.selection.grid import places_of, varied_keys
from runner.store.written_config import written_settings
from runner.tasks.run_identity import run_ids, written_run

IMAGES = ("target=rbm", "target.dataset=digits", "sampler=block_gibbs", "task=autoencode")


def composed(*lines: str, without: tuple[str, ...] = ()) -> DictConfig:
    """The configuration of a run of today, or of a version that had not the keys in `without`."""
    config = compose(lines)
    with open_dict(config):
        for group, _, name in (key.rpartition(".") for key in without):
            del OmegaConf.select(config, group)[name]
    return config


def written(*lines: str, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """What is written of `composed`; without the tuning where the effort was no key."""
    found = written_settings(composed(*lines, without=tuple(key for key in without if key != EFFORT)))
    return {key: value for key, value in found.items() if key != "tuning" or EFFORT not in without}


def computed(*lines: str, without: tuple[str, ...] = ()) -> Settings:
    """The settings of such a run."""
    return settings_computed(written(*lines, without=without), None)


def labels(*settings: Settings) -> list[tuple[str, str]]:
    """The row and the column of runs with these `settings`."""
    return places_of(cast(Any, [SimpleNamespace(settings=each) for each in settings])).labels


@pytest.mark.parametrize(
    ("task", "key"), [(task, key) for task, later in LATER.items() for key in later if task == "autoencode"]
)
def test_a_run_without_a_later_key_did_what_its_value_says(task: str, key: str) -> None:
    today, before = flat_settings(written(*IMAGES)), flat_settings(written(*IMAGES, without=(key,)))
    assert before == today
    assert before[key] == LATER[task][key]
    plain, old = compose(IMAGES), composed(*IMAGES, without=(key,))
    assert run_ids(plain, "cpu", [0]) == run_ids(old, "cpu", [0])


def test_grey_images_and_small_codes_are_other_columns_than_runs_of_before() -> None:
    before = flat_settings(written(*IMAGES, without=("task.test", "task.autoencoder.code")))
    grey = flat_settings(written(*IMAGES, "task.test=grey", "task.autoencoder.code=20"))
    assert varied_keys([before, grey]) == ["task.test"]  # which decides the code
    assert [column for _, column in labels(before, grey)] == ["rbm, test=binary", "rbm, test=grey"]


def test_a_pilot_of_unknown_effort_is_a_row_of_its_own() -> None:
    lines = ("target=mog", "sampler=dmala")
    before, today = computed(*lines, without=(EFFORT,)), computed(*lines, "tuning.effort=0.05")
    assert labels(before, today) == [("dmala, effort=unknown", "mog"), ("dmala, effort=0.05", "mog")]
    learned = ("target=rbm", "sampler=gibbs", "+target.training.sampler.step_size=auto")
    assert computed(*learned, without=(EFFORT,))[EFFORT] is None


@pytest.mark.parametrize(
    "line", ["sampler.step_size=2", "sampler=gibbs", "task=learn target=rbm sampler=gibbs"]
)
def test_where_nothing_is_tuned_the_effort_is_no_setting(line: str) -> None:
    lines = ("target=mog", "sampler=dmala", *line.split())
    before, today = computed(*lines, without=(EFFORT,)), computed(*lines, "tuning.effort=0.05")
    assert EFFORT not in today
    assert before == today


OTHERS = ("sampler.step_size=0.3", "sampler.ladder=[1,0.5]", "sampler.ladder=[1,0.5] sampler.step_size=0.3")


@pytest.mark.parametrize("name", options("sampler", ()))
def test_what_may_be_tuned_is_known_without_the_classes(name: str) -> None:
    for line in ("", *OTHERS):
        with suppress(UserError):
            sampler = written(f"sampler={name}", *line.split())["sampler"]
            assert may_be_tuned(sampler) == leaves_open(sampler), line


@pytest.mark.parametrize("path", ["samplers.discrete.ab.AB", "samplers.moved.Kernel", "mine.Gone"])
def test_what_a_class_may_leave_open_may_be_tuned(path: str) -> None:
    node = {"_target_": path}
    assert may_be_tuned(node)
    assert may_be_tuned({"_target_": "samplers.discrete.gibbs.Gibbs", "kernel": node})
    assert not may_be_tuned({**node, "step_size": 0.5})


def test_what_learning_does_not_read_of_a_target_is_no_setting() -> None:
    """Versions up to 0.1.0 wrote it."""
    lines = ("task=learn", "target=rbm", "sampler=gibbs")
    today = settings_computed(written_run(composed(*lines)), None)
    assert computed(*lines, "+target.training.sampler.step_size=auto") == today


def test_runs_that_lack_a_key_of_their_option_are_others_than_those_that_have_it() -> None:
    """Such is the digest of a class of one's own, which runs of 0.1.0 have not."""
    before = flat_settings(written("sampler=dmala", "sampler.step_size=2"))
    today = before | {"sampler.code": "12ab34cd"}
    assert labels(before, today) == [("dmala", "mog"), ("dmala, code=12ab34cd", "mog")]
    # Another task may read less of a target.
    assert varied_keys([before, today | {"task": "learn"}]) == ["task"]


@pytest.mark.parametrize("key", [*LATER["sample"], "metric.mmd.bandwidth"])
def test_what_runs_measured_or_kept_makes_no_rows(key: str) -> None:
    before = flat_settings(written())
    assert varied_keys([before, before | {key: 20}]) == []
