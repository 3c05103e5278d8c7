"""Models learned from a dynamic set: from batches that are drawn anew, in one piece or in many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from runner.config import datasets
from runner.execution import signals
from runner.models import model_files
from runner.models.training import Training, TrainingImages, TrainingSettings
from runner.models.training.batches import Batches
from samplers.discrete.rbm_gibbs import RBMGibbs
from targets.datasets.dataset import Dataset
from targets.models.rbm import RBM
from tests.runner.models.test_learned import LEARN, one, stop_after
from tests.support.commands import Call

SETTINGS = TrainingSettings(method="pcd", cd_steps=1, iterations=12, batch=6, chains=4, learning_rate=0.05)


def small() -> Dataset:
    """20 grey images of 6 pixels and one draw of each."""
    generator = torch.Generator().manual_seed(0)
    grey = torch.randint(0, 17, (20, 6), generator=generator, dtype=torch.uint8)
    nothing = torch.zeros((0, 6), dtype=torch.uint8)
    return Dataset("small", (grey > 8).to(torch.uint8), nothing, nothing, (2, 3), grey=grey, white=16)


def training(dataset: Dataset, seed: int = 0) -> Training:
    torch.manual_seed(0)
    target = RBM(6, 3, mean=dataset.mean()).double()
    return Training(
        target,
        RBMGibbs().to(target.like()),
        TrainingImages(dataset.train, grey=dataset.grey, white=dataset.white),
        SETTINGS,
        seed,
    )


def test_an_rbm_learns_from_batches_that_are_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, seen = small(), []
    at = Batches.at

    def noted(self: Batches, iteration: int) -> torch.Tensor:
        seen.append(at(self, iteration))
        return seen[-1]

    monkeypatch.setattr(Batches, "at", noted)
    learned = training(dataset)
    learned.advance(12)
    monkeypatch.undo()
    wanted = Batches(dataset.train, 6, 0, torch.float64, dataset.grey, 16)
    assert len(seen) == 12
    assert all(torch.equal(batch, wanted.at(iteration)) for iteration, batch in enumerate(seen))
    still = Batches(dataset.train, 6, 0, torch.float64)
    assert not any(torch.equal(batch, still.at(iteration)) for iteration, batch in enumerate(seen))


@pytest.mark.parametrize("stop", [1, 3, 4, 11])
def test_learning_from_dynamic_batches_goes_on_with_the_same_bits(stop: int) -> None:
    whole = training(small())
    whole.advance(12)
    begun = training(small())
    begun.advance(stop)
    again = training(small())
    again.load_state_dict(begun.state_dict())
    again.advance(12)
    for name, weights in whole.target.state_dict().items():
        assert torch.equal(weights, again.target.state_dict()[name])


def test_task_learn_on_dynamic_digits_stopped_and_continued_is_the_same_model(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The commit is in every model file, and may change while tests run in a working tree.
    monkeypatch.setattr(model_files, "git", lambda: {"commit": "c0ffee", "dirty": False})
    command = (*LEARN, "target.binarisation=dynamic")
    digits, at, seen = datasets.load_dataset("digits", "dynamic", None), Batches.at, []

    def noted(self: Batches, iteration: int) -> torch.Tensor:
        seen.append(self.grey is not None and torch.equal(self.grey, digits.grey) and self.white == 16)
        return at(self, iteration)

    with monkeypatch.context() as patch:
        patch.setattr(Batches, "at", noted)
        assert call(*command, "output_root=whole").status == 0
    assert len(seen) == 40
    assert all(seen)
    with monkeypatch.context() as patch:
        stop_after(patch, Training, 2)
        assert call(*command, "output_root=cut").status == 75
    signals.forget()
    assert one("models/*/checkpoint.pt", "cut").is_file()
    assert call(*command, "output_root=cut").status == 0
    weights = [load_file(one("models/*/model.safetensors", root)) for root in ("whole", "cut")]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    report = json.loads(one("models/*/model.json", "cut").read_text())
    assert report["binarisation"] == "dynamic"
    assert report["recipe"]["data"] == {"name": "digits", "binarisation": "dynamic", "seed": 0}
    assert report["data_fingerprint"] == digits.fingerprint()
    # The same recipe on still images is another model.
    assert call(*LEARN, "target.binarisation=stochastic", "output_root=whole").status == 0
    assert len(list(Path("whole").glob("models/*/model.safetensors"))) == 2
