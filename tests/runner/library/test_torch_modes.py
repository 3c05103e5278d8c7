"""Modes of torch that a caller has switched on change no result."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

import runner
from metrics import run_chains
from samplers import AB, DLMC
from targets import Ising, LogQuadratic, MixtureOfGaussians

MODES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "inference": torch.inference_mode,
    "no_grad": torch.no_grad,
    "autocast": partial(torch.autocast, "cpu"),
}
MEASURED = ["energy", "specific_heat", "ess"]


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> Callable[[], AbstractContextManager[Any]]:
    return MODES[request.param]


def test_named_parts_give_what_they_give_without(mode: Callable[[], AbstractContextManager[Any]]) -> None:
    """Exact values by differentiation, and matrix products of the dtype's precision."""

    def found(target: str) -> dict[str, float]:
        drawn = runner.sample(runner.named_target(target), "dlmc", steps=60, chains=8, seed=1)
        return drawn.metrics(MEASURED)

    expected = found("ising"), found("quadratic")
    assert expected[0]["specific_heat_exact"] > 0
    with mode():
        assert (found("ising"), found("quadratic")) == expected
    assert not torch.is_inference_mode_enabled()


def test_chains_of_classes_too(mode: Callable[[], AbstractContextManager[Any]]) -> None:
    given = [
        (Ising(size=4), DLMC(1.0)),
        (LogQuadratic(d=8), DLMC(0.5)),
        (MixtureOfGaussians(4), AB(20.0, 0.5)),
    ]

    def found() -> list[dict[str, float]]:
        return [run_chains(*each, chains=4, steps=40).metrics(["energy"]) for each in given]

    expected = found()
    with mode():
        assert found() == expected


def test_a_target_of_inference_tensors_is_refused() -> None:
    with torch.inference_mode():
        ising = Ising(size=4)
    sentence = "^the target Ising was built inside torch.inference_mode, where tensors .*; build it outside"
    with pytest.raises(ValueError, match=sentence):
        run_chains(ising, DLMC(1.0))


def test_whole_runs_too(mode: Callable[[], AbstractContextManager[Any]], tmp_path: Path) -> None:
    small = ["scale=smoke", "task.steps=40", "task.chains=4", "metric=[energy,specific_heat]"]
    words = ["target=ising,quadratic", "sampler=gibbs", *small]

    def found(place: str) -> Any:
        frame = runner.run(*words, f"output_root={tmp_path / place}")
        return frame.drop(columns=["seconds", "wall_seconds"])

    expected = found("without")
    with mode():
        here = torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu")
        assert found("within").equals(expected)
        assert (torch.is_inference_mode_enabled(), torch.is_autocast_enabled("cpu")) == here
