"""A model that is named is what its file says, not what the command's other keys would have trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from runner.models.identity import weights_of
from runner.models.model_files import save_model
from runner.report.selection.stored_runs import stored_runs
from targets import RBM, ResNetEBM
from tests.support.commands import Call, finished, one, refusal

SMALL = (
    *("scale=smoke", "target=rbm", "target.ground_truth.steps=10", "target.ground_truth.chains=10"),
    *("target.ground_truth.keeps=2", "sampler=rbm_gibbs", "metric=[jump]", "task.steps=10", "task.chains=2"),
)
RECIPE = (
    *("target.dataset=digits", "target.binarisation=stochastic", "target.n_hidden=4", "target.model_seed=7"),
    *("target.training.iterations=3", "target.training.cd_steps=2", "target.training.batch=30"),
)
LEARNING = ("task=learn", "scale=smoke", "target=rbm", "target.dataset=digits", "target.n_hidden=4")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of an RBM that was learned by `RECIPE`, in the current folder."""
    monkeypatch.chdir(tmp_path)
    finished(tmp_path / "recipe", *SMALL, *RECIPE)
    one("models/*/model.safetensors", tmp_path / "recipe").rename("mine.safetensors")
    return "target.model=mine.safetensors"


def settings(root: str | Path) -> dict[str, Any]:
    (run,) = stored_runs(root)
    return run.settings


def test_a_run_is_written_with_the_settings_of_the_file(tmp_path: Path, model: str) -> None:
    named = settings(finished(tmp_path / "named", *SMALL, model))
    weights = {"target.model.content": weights_of(Path("mine.safetensors"))["weights"]}
    assert named == settings("recipe") | {"target.model": "mine.safetensors"} | weights
    assert (named["target.dataset"], named["target.n_hidden"], named["target.model_seed"]) == ("digits", 4, 7)
    assert (named["target.training.iterations"], named["target.binarisation"]) == (3, "stochastic")


def test_what_a_file_does_not_say_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save(RBM(64, 5).state_dict(), "bare.pt")
    written = settings(finished(tmp_path / "named", *SMALL, "target.model=bare.pt", "target.dataset=digits"))
    assert (written["target.dataset"], written["target.n_hidden"]) == ("digits", 5)
    assert not any(key.startswith(("target.training", "target.model_seed")) for key in written)
    save_model(Path("deep.pt"), ResNetEBM(64, width=2, blocks=1, halvings=1), {"dataset": "digits"})
    deep = ("scale=smoke", "target=resnet_ebm", "target.model=deep.pt", "sampler=dmala", "task.steps=10")
    written = settings(finished(tmp_path / "deep", *deep, "sampler.step_size=0.2", "metric=[jump]"))
    assert [written[f"target.{key}"] for key in ("width", "blocks", "halvings")] == [2, 1, 1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("target.n_hidden=5", "target.n_hidden must be 4, as in {}, or be left out; 5 was given."),
        ("target.dataset=mnist", "target.dataset must be 'digits', as in {}, or be left out; 'mnist' was"),
        ("target.training={cd_steps:1}", "target.training.cd_steps must be 2, as in {}, or be left out"),
        ("target.binarisation=dynamic", "target.binarisation must be 'stochastic', as in {}, or be left out"),
    ],
)
def test_what_the_file_contradicts_is_refused(model: str, given: str, said: str) -> None:
    assert refusal(*SMALL, model, given).startswith(said.format(model))
    assert refusal("-m", *SMALL, model, given, "seed=0,1").startswith(said.format(model))


def test_what_the_file_does_not_say_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(Path("plain.pt"), RBM(64, 4), {"dataset": "digits"})
    assert refusal(*SMALL, "target.model=plain.pt", "target.model_seed=0") == (
        "target.model_seed must be left out, since target.model=plain.pt is learned, and its file does not "
        "say how; 0 was given."
    )


def test_what_the_file_says_too_may_be_given(call: Call, model: str) -> None:
    """As may be what another job of the same sweep reads."""
    assert call(*SMALL, *RECIPE, model).status == 0
    both = ("target.model=null,mine.safetensors", "target.n_hidden=5", "target.dataset=digits")
    assert call("-m", "--dry-run", *SMALL, *both).status == 0


@pytest.mark.parametrize(
    ("given", "own"),
    [
        ("target.training.cd_steps=3", "reads task.cd_steps; 3 was given."),
        ("target.training.sampler._target_=samplers.discrete.gibbs.Gibbs", "reads sampler._target_; 'samp"),
        ("target.model_seed=3", "reads seed; 3 was given."),
        ("target.ground_truth.steps=9", "does not read it; 9 was given."),
    ],
)
def test_learning_refuses_the_training_of_the_target(given: str, own: str) -> None:
    said = refusal(*LEARNING, "sampler=rbm_gibbs", given)
    assert said.startswith(f"{given.split('=')[0]} must be left out, since task=learn {own}")


def test_a_learning_run_is_written_without_the_training_of_the_target(tmp_path: Path) -> None:
    few = ("task.iterations=2", "task.batch=20", "task.chains=4", "task.cd_steps=1", "sampler=rbm_gibbs")
    ais = ("task.ais.temperatures=3", "task.ais.chains=4", "task.ais.draw_steps=2", "task.ais.repeats=1")
    written = settings(finished(tmp_path / "learned", *LEARNING, *few, *ais))
    assert written["target.n_hidden"] == 4
    assert not any(key.startswith(("target.training", "target.model", "target.ground")) for key in written)
