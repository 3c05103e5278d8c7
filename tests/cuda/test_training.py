"""Training on a GPU: replayed steps of the chains see the parameters as they change."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from runner.models.training import Training, TrainingImages
from samplers import stepper
from tests.runner.models.test_deep_learning import HELD_OUT, KERNELS, TRAIN, network, settings

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

ITERATIONS = 30


def learned(name: str) -> list[Tensor]:
    """The parameters after `ITERATIONS` iterations of 3 steps."""
    images = TrainingImages(TRAIN.cuda(), HELD_OUT.cuda())
    model = network().double().cuda()
    run = Training(model, KERNELS[name](), images, settings(iterations=ITERATIONS), seed=3)
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
