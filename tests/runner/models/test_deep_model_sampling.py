"""A deep energy-based model from its recipe to draws: trained once, stored and sampled."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from runner.models.model_files import load_model, save_model
from runner.tools.bench.baselines.plain_deep import PlainNetwork
from targets import RBM, ResNetEBM
from tests.support.commands import Call, assert_refused, finished, one, rows, summary

MODEL = (
    *("scale=smoke", "target=resnet_ebm", "target.dataset=digits", "target.width=3", "target.blocks=2"),
    *("target.training.iterations=3", "target.training.cd_steps=1", "target.training.batch=20"),
    *("target.training.chains=20", "dtype=float64"),
)
RUN = (*MODEL, "sampler=dmala", "sampler.step_size=0.15", "task.steps=20", "task.chains=4")


def test_a_model_is_trained_once_stored_and_sampled(call: Call) -> None:
    assert call(*RUN, "metric=[standard]", "seed=[0,1]").status == 0
    path = one("models/*/model.safetensors")
    before = path.read_bytes()
    model, metadata = load_model(path)
    assert isinstance(model, ResNetEBM)
    assert (model.shape, model.options.width, model.options.blocks) == ((8, 8), 3, 2)
    assert metadata["dataset"] == "digits"
    # All standard metrics but those that need a reference sample, which no deep model has.
    metrics = {row[-2] for row in rows()}
    assert {"acceptance", "jump", "ess", "rhat"} <= metrics
    assert not {"log_mmd", "kl", "tv"} & metrics
    assert call(*RUN, "metric=[jump]", "task.steps=30").status == 0
    assert path.read_bytes() == before
    assert not list(Path("outputs").glob("models/*/ground_truth*"))
    summaries = [json.loads(each.read_text()) for each in Path("outputs").glob("runs/*/summary.json")]
    assert {(each["model"], each["target"]) for each in summaries} == {(str(path), "resnet_ebm/digits")}


def test_a_saved_model_takes_the_place_of_a_trained_one(call: Call) -> None:
    target = ResNetEBM(64, torch.full((64,), 0.2), seed=5, width=2, blocks=1, halvings=1)
    save_model(Path("deep.safetensors"), target, {"dataset": "digits"})
    named = ("scale=smoke", "target=resnet_ebm", "target.model=deep.safetensors", "sampler=dmala")
    assert call(*named, "sampler.step_size=0.15", "task.steps=20", "metric=[jump]").status == 0
    assert summary()["model"] == "deep.safetensors"
    assert not list(Path("outputs").glob("models/*"))


REFUSED = [
    ("metric=[log_mmd]", "log_mmd needs a binary target with reference draws; ResNetEBM has none."),
    ("task.start=one_mode", "task.start=one_mode needs a target with known modes, ResNetEBM has none."),
    ("target.width=0", "target.width must be a whole number of at least 1, 0 was given."),
    ("target.halvings=3", "target.halvings must be at most blocks=2, 3 was given."),
    ("target.precision=half", "target.precision must be float32 or bfloat16, 'half' was given."),
    ("target.compile=3", "target.compile must be true or false, 3 was given."),
    (
        "target.model=rbm.safetensors",
        "target.model=rbm.safetensors must be a model of targets.models.resnet_ebm.ResNetEBM, a RBM was",
    ),
]


def test_what_cannot_be_sampled_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_model(Path("rbm.safetensors"), RBM(64, 3), {"dataset": "digits"})
    save_model(Path("deep.safetensors"), ResNetEBM(64, width=2, blocks=1, halvings=1), {"dataset": "digits"})
    assert_refused(RUN, REFUSED)
    said = "target.model=deep.safetensors must be a model of targets.models.rbm.RBM, a ResNetEBM was given."
    rbm = ("scale=smoke", "target=rbm", "sampler=dula")
    assert_refused(rbm, [("target.model=deep.safetensors", said)])


def test_weights_alone_are_not_taken_for_those_of_square_images_where_the_images_are_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many pixels in another shape are other neighbours: a square was sampled without a word."""
    monkeypatch.chdir(tmp_path)
    images = np.random.default_rng(0).integers(0, 2, (30, 2, 8), dtype=np.uint8)
    np.savez("flat.npz", train=images, test=images[:5])
    np.savez("square.npz", train=images.reshape(30, 4, 4), test=images[:5].reshape(5, 4, 4))
    torch.save(ResNetEBM(16, shape=(2, 8), width=2, blocks=1, halvings=0).state_dict(), "weights.pt")
    named = ("scale=smoke", "target=resnet_ebm", "target.model=weights.pt", "sampler=gibbs", "metric=[jump]")
    said = "target.dataset=flat.npz has images of 2 x 8 pixels, the model weights.pt expects 4 x 4."
    assert_refused(named, [("target.dataset=flat.npz", said)])
    finished(tmp_path / "square", *named, "target.dataset=square.npz", "task.steps=3")


def test_the_script_beside_which_learning_is_timed_has_the_same_energy() -> None:
    target = ResNetEBM(784, torch.linspace(0.0, 1.0, 784), seed=1, width=3, blocks=3).requires_grad_(False)
    network = PlainNetwork(3, 3, target.data_mean).double()
    network.load_state_dict({**target.network.state_dict(), "mean": target.data_mean})
    theta = target.initial((5,), torch.Generator().manual_seed(0))
    torch.testing.assert_close(network(theta).detach(), target.log_prob(theta), rtol=1e-12, atol=1e-9)
