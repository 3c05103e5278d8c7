"""A deep model learned by the command: stopped within a validation, and what is kept beside the model."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from runner.config.datasets import load_dataset
from runner.execution import signals
from runner.execution.checkpoint import load_checkpoint
from runner.models import model_files
from runner.models.training import Training
from runner.store.array_files import IMAGES, MOST, load_images
from tests.support.commands import Call

LEARN = (
    *("scale=smoke", "task=learn", "target=resnet_ebm", "target.dataset=digits", "dtype=float64"),
    *("target.width=2", "target.blocks=1", "target.halvings=0", "sampler=gibbs", "seed=3"),
    *("task.iterations=12", "task.cd_steps=2", "task.chains=10", "task.batch=20", "task.buffer=40"),
    *("task.warm_up=4", "task.averaging=0.5", "task.validate_every=6"),
    *("task.validation.temperatures=30", "task.validation.chains=6"),
    *("task.ais.temperatures=10", "task.ais.chains=5", "task.ais.draw_steps=3"),
)


def kept(root: str) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor], dict[str, Any]]:
    """Weights, samples and report of the only model in an output root."""
    (folder,) = Path(root).glob("models/*")
    report = json.loads((folder / "model.json").read_text())
    weights = load_file(folder / "model.safetensors")
    return weights, load_file(folder / "samples.safetensors"), report


def interrupted_when(wanted: Callable[[Training], bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a SIGTERM come in after the first call of `advance` that leaves the training so."""
    advance = Training.advance

    def stopped(self: Training, *arguments: Any) -> None:
        advance(self, *arguments)
        if wanted(self):
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Training, "advance", stopped)


def test_stopped_within_a_validation_and_repeated(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "git", lambda: {"commit": "c0ffee", "dirty": False})
    assert call(*LEARN, "output_root=straight").status == 0
    for moment in (6, 12):
        with monkeypatch.context() as patch:
            interrupted_when(lambda run, at=moment: run.validating and run.iteration == at, patch)
            assert call(*LEARN, "output_root=cut").status == 75
        (checkpoint,) = Path("cut").glob("models/*/checkpoint.pt")
        saved = load_checkpoint(checkpoint)
        assert saved["iteration"] == moment
        assert 0 < saved["validation"]["walk"]["step"] < 30
        signals.forget()
    assert call(*LEARN, "output_root=cut").status == 0
    assert not list(Path("cut").glob("models/*/checkpoint.pt"))
    straight, cut = kept("straight"), kept("cut")
    for one, other in zip(straight[:2], cut[:2], strict=True):
        assert set(one) == set(other)
        assert all(torch.equal(one[name], other[name]) for name in one)
    samples, report = straight[1]["samples"], straight[2]
    assert samples.shape == (10, 64)
    assert samples.dtype == torch.uint8
    assert set(samples.unique().tolist()) == {0, 1}
    assert [each["iteration"] for each in report["validations"]] == [6, 12]
    assert report["validations"] == cut[2]["validations"]
    best = max(report["validations"], key=lambda each: each["log_likelihood"])
    assert report["best"] == best
    values = [point["values"] for point in report["history"]]
    assert values == [point["values"] for point in cut[2]["history"]]
    assert values[-1]["validation_log_likelihood"] == report["validations"][-1]["log_likelihood"]


def test_the_last_chains_and_test_images_are_kept_as_pictures(call: Call) -> None:
    assert call(*LEARN).status == 0
    _, samples, _ = kept("outputs")
    (run,) = Path("outputs").glob("runs/*")
    draws, images = load_images(run), load_images(run, IMAGES)
    assert draws is not None
    assert images is not None
    assert draws.reshape(len(draws), -1).tolist() == samples["samples"].tolist()
    test = load_dataset("digits", None, None).test
    places = [place * len(test) // MOST for place in range(MOST)]
    assert images.reshape(MOST, -1).tolist() == test[places].tolist()
