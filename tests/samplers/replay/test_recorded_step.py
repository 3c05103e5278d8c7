"""What a stepper makes of recorded steps, with a graph that runs the step again in place of a CUDA graph."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from runner.files.checkpoint import from_plain, load_checkpoint, save_checkpoint, to_plain
from samplers import State
from samplers.replay import recorded_step
from samplers.stepper import PLAIN_STEPS, Stepper
from samplers.tensor_tree import tensors
from targets import Streams, Target
from tests.samplers.test_conformance import EVERY
from tests.support.steps.stepping import ONE, started

STEPS = PLAIN_STEPS + 15


class Graph:
    """Runs `work` when it is made and, unless it is `empty`, at each replay."""

    def __init__(self, work: Callable[[], None], empty: bool = False) -> None:
        self.work, self.empty = work, empty
        work()

    def replay(self) -> None:
        if not self.empty:
            self.work()


Capture = Callable[[Callable[[], None], Sequence[torch.Generator]], Graph]


def stepped(
    name: str, monkeypatch: pytest.MonkeyPatch, capture: Capture | None
) -> tuple[State, bool, str | None]:
    """Where some steps lead, recorded as `capture` does where it is given; whether replayed, and why not."""
    kernel, target, _ = EVERY[name]
    streams = Streams([0, 1], "chain")
    state = started(kernel, target, (2, 20), Streams([0, 1], "start"))
    stepper = Stepper(kernel, target, ONE, streams)
    if capture is not None:
        monkeypatch.setattr(recorded_step, "captured", capture)
        monkeypatch.setattr(torch.cuda, "device", lambda device: nullcontext())
        monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: 0)
        monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", lambda mode: None)
        stepper._recordable = True
    for _ in range(STEPS):
        state, _ = stepper(state)
    return state, stepper._recorded is not None, stepper.not_recorded


def assert_equal(one: State, other: State) -> None:
    for mine, theirs in zip(tensors(one), tensors(other), strict=True):
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize("name", ["dmala-binary", "pt_odd_even", "acs-ordinal", "st_gibbs", "wolff-ising"])
def test_replayed_steps_are_the_plain_ones_and_can_be_saved(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain, *_ = stepped(name, monkeypatch, None)
    state, replayed, why = stepped(name, monkeypatch, lambda work, generators: Graph(work))
    assert replayed
    assert why is None
    assert_equal(state, plain)
    path = tmp_path / "checkpoint"
    save_checkpoint(path, {"state": to_plain(state)})
    assert_equal(from_plain(state, load_checkpoint(path)["state"]), plain)
    torch.save(list(tensors(state)), tmp_path / "states.pt")
    size = sum(each.nbytes for each in tensors(state))
    assert path.stat().st_size < size + 6_000  # nothing of what the step says


def test_a_graph_that_does_nothing_is_not_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that was recorded on another device than that of the step."""
    plain, *_ = stepped("dmala-binary", monkeypatch, None)

    def empty(work: Callable[[], None], generators: Sequence[torch.Generator]) -> Graph:
        return Graph(work, empty=True)

    state, replayed, why = stepped("dmala-binary", monkeypatch, empty)
    assert not replayed
    assert why is not None
    assert why.endswith("of the chains of a replayed step differ from the step itself")
    assert_equal(state, plain)


def test_where_the_recording_fails_steps_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(work: Callable[[], None], generators: Sequence[torch.Generator]) -> Graph:
        work()
        raise RuntimeError("CUDA error: operation failed due to a previous error during capture")

    plain, *_ = stepped("pt_odd_even", monkeypatch, None)
    state, replayed, why = stepped("pt_odd_even", monkeypatch, fails)
    assert not replayed
    assert why == "CUDA error: operation failed due to a previous error during capture"
    assert_equal(state, plain)


def test_a_target_that_rounds_differently_at_each_call_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As convolutions on a GPU do, whose sums are in the order in which threads come to their end."""
    _, target, _ = EVERY["dmala-binary"]
    rounded = type(target).log_prob_and_grad

    def rounding(self: Target, theta: Tensor) -> tuple[Tensor, Tensor]:
        log_prob, grad = rounded(self, theta)
        return log_prob * (1.0 + 1e-12 * torch.rand(())), grad

    monkeypatch.setattr(type(target), "log_prob_and_grad", rounding)
    _, replayed, _ = stepped("dmala-binary", monkeypatch, lambda work, generators: Graph(work))
    assert replayed


def test_no_garbage_is_freed_while_a_graph_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """An older graph that is part of it would spoil the recording."""

    class Left:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            freed.append("garbage")

    freed: list[str] = []
    monkeypatch.setattr(torch.cuda, "CUDAGraph", SimpleNamespace)
    monkeypatch.setattr(torch.cuda, "Stream", SimpleNamespace)
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, **options: nullcontext())
    Left()

    def work() -> None:
        freed.append("recording")
        assert not gc.isenabled()

    recorded_step.captured(work, [])
    assert freed == ["garbage", "recording"]
    assert gc.isenabled()
    gc.disable()
    try:
        recorded_step.captured(work, [])
        assert not gc.isenabled()
    finally:
        gc.enable()
