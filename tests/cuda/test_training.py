"""Training on a GPU: replayed steps of the chains see the parameters as they change."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from runner.files.checkpoint import load_checkpoint, save_checkpoint
from runner.models.training import Training, TrainingImages
from samplers import stepper
from tests.runner.models.test_deep_learning import HELD_OUT, KERNELS, TRAIN, network, settings

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

ITERATIONS = 30


def training(name: str) -> Training:
    images = TrainingImages(TRAIN.cuda(), HELD_OUT.cuda())
    model = network().double().cuda()
    return Training(model, KERNELS[name](), images, settings(iterations=ITERATIONS), seed=3)


def learned(name: str) -> list[Tensor]:
    """The parameters after `ITERATIONS` iterations of 3 steps."""
    run = training(name)
    run.advance(ITERATIONS)
    taken = run.chains._stepper
    assert taken is not None
    assert (taken._recorded is not None) is (stepper.PLAIN_STEPS < 3 * ITERATIONS)
    return [each.detach().clone() for each in run.target.parameters()]


@pytest.mark.parametrize("name", KERNELS)
def test_replayed_steps_learn_what_plain_steps_learn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replayed = learned(name)
    monkeypatch.setattr(stepper, "PLAIN_STEPS", 10_000)
    for mine, theirs in zip(replayed, learned(name), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_a_training_that_is_stopped_after_a_recording_learns_the_same(name: str, tmp_path: Path) -> None:
    first, second = training(name), training(name)
    first.advance(ITERATIONS // 2)
    assert first.chains._stepper is not None
    assert first.chains._stepper._recorded is not None, first.chains._stepper.not_recorded
    save_checkpoint(tmp_path / "checkpoint.pt", first.state_dict())
    second.load_state_dict(load_checkpoint(tmp_path / "checkpoint.pt"))
    second.advance(ITERATIONS - ITERATIONS // 2)
    for mine, theirs in zip(second.target.parameters(), learned(name), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-9, atol=1e-12)
