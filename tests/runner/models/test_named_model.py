"""A model that is named is what its file says, not what the command's other keys would have trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from runner.models.identity import weights_of
from runner.models.model_files import save_model
from runner.report.selection.grid import places_of
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
EVALUATE = ("task=evaluate", "scale=smoke", "task.ais.temperatures=3", "task.ais.chains=4")
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


def test_an_evaluation_is_written_with_the_target_of_the_file(tmp_path: Path, model: str) -> None:
    """And without a sampler: it had the command's, by which tables called it and conditions chose it."""
    root = finished(tmp_path / "evaluated", *EVALUATE, "model=mine.safetensors")
    written = settings(root)
    unread = ("target.ground_truth", "target.model")
    learned = {key: value for key, value in settings("recipe").items() if key.startswith("target")}
    learned = {key: value for key, value in learned.items() if not key.startswith(unread)}
    weights = weights_of(Path("mine.safetensors"))["weights"]
    learned |= {"target.model_seed": 7, "target.model.content": weights}
    assert {key: value for key, value in written.items() if key.startswith("target")} == learned
    assert not any(key.startswith("sampler") for key in written)
    assert places_of(stored_runs(root)).labels == [("no sampler", "rbm")]


def test_an_evaluation_is_written_without_what_its_file_does_not_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save(RBM(64, 5).state_dict(), "bare.pt")
    save_model(Path("moved.pt"), RBM(64, 5), {"dataset": "gone.npz"})
    for name in ("bare", "moved"):
        root = finished(tmp_path / name, *EVALUATE, f"model={name}.pt", "task.dataset=digits")
        found = {key: value for key, value in settings(root).items() if key.startswith("target")}
        assert set(found) == {"target", "target.n_hidden", "target.model.content"}


def test_an_evaluation_says_how_to_name_images_that_have_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(Path("moved.pt"), RBM(64, 5), {"dataset": "gone.npz"})
    assert refusal(*EVALUATE, "model=moved.pt") == (
        "'gone.npz' cannot be read: No such file or directory: the model moved.pt learned these images; "
        "task.dataset=FILE.npz says where they are now."
    )
    said = refusal(*EVALUATE, "model=moved.pt", "task.dataset=gone.npz")
    assert said == "'gone.npz' cannot be read: No such file or directory."


def test_files_below_the_users_home_are_found(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same runs as by their whole paths."""
    Path("home").mkdir()
    home = Path("home").resolve()
    monkeypatch.setenv("HOME", str(home))
    images = (np.arange(200 * 64).reshape(200, 8, 8) * 7919 % 11 < 4).astype(np.uint8)
    np.savez("home/x.npz", train=images, test=images[:20])
    save_model(Path("home/m.pt"), RBM(64, 5), {"dataset": "~/x.npz"})
    for given in (
        (*SMALL, *RECIPE[2:], "target.dataset='{}/x.npz'"),
        (*SMALL, "target.model='{}/m.pt'"),
        (*EVALUATE, "model='{}/m.pt'"),
        (*EVALUATE, "model='{}/m.pt'", "task.dataset='{}/x.npz'"),
    ):
        assert "done before" not in call(*(word.format("~") for word in given)).out
        assert "done before" in call(*(word.format(home) for word in given)).out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("target.n_hidden=5", "target.n_hidden must be 4, as in model=mine.safetensors, or be left"),
        ("target.ground_truth.steps=9", "target.ground_truth.steps must be left out, since task=evaluate"),
        ("sampler.step_size=3", "sampler.step_size must be left out, since task=evaluate draws nothing with"),
    ],
)
@pytest.mark.usefixtures("model")
def test_an_evaluation_refuses_another_target_and_a_sampler(given: str, said: str) -> None:
    for flags in ((), ("-m", "seed=0,1")):
        named = ("target=rbm", "sampler=dmala", given, "model=mine.safetensors")
        assert refusal(*flags, *EVALUATE, *named).startswith(said)


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


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("task.method=cd", "task.chains=9"), "task.method=cd has a chain for each image of a batch"),
        (("sampler=rbm_gibbs", "task.tune_every=2"), "sampler=rbm_gibbs leaves nothing to tune"),
        (("sampler=dmala", "sampler.step_size=0.2", "task.tune_every=2"), "sampler=dmala leaves nothing to"),
    ],
)
def test_learning_refuses_what_its_method_and_its_sampler_do_not_read(given: Sequence[str], why: str) -> None:
    """Each value was a run of its own, and a row of the same numbers."""
    key = given[-1].split("=")[0]
    said = refusal(*LEARNING, *given)
    assert said.startswith(f"{key} must be left out, since {why}")
    assert said.endswith(f"; {given[-1]} was given.")


def test_a_key_that_one_job_of_a_sweep_reads_is_not_refused(call: Call) -> None:
    """Its other jobs are one for all values: two of these six."""
    read = ("sampler=rbm_gibbs", "task.method=cd,pcd", "task.chains=9,10,11", "task.iterations=2")
    planned = call("-m", "--dry-run", *LEARNING, *read)
    assert planned.err == "warning: 2 of 6 jobs have the same runs as others and are left out.\n"
    assert "\n4 runs, 4 to do.\n" in planned.out


def test_a_learning_run_is_written_without_the_training_of_the_target(tmp_path: Path) -> None:
    few = ("task.iterations=2", "task.batch=20", "task.chains=4", "task.cd_steps=1", "sampler=rbm_gibbs")
    ais = ("task.ais.temperatures=3", "task.ais.chains=4", "task.ais.draw_steps=2", "task.ais.repeats=1")
    written = settings(finished(tmp_path / "learned", *LEARNING, *few, *ais))
    assert written["target.n_hidden"] == 4
    assert not any(key.startswith(("target.training", "target.model", "target.ground")) for key in written)
