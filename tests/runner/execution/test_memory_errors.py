"""Memory that is refused in a run is one sentence, and the other runs of the sweep go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from runner.execution.command_line import reported
from runner.execution.memory.memory_errors import memory_error
from samplers import Gibbs
from tests.support.commands import Call

SWEEP = ("-m", "target=bernoulli4", "sampler=gibbs,dmala", "metric=tv", "task.steps=40", "task.chains=50")

KINDS: dict[str, tuple[Callable[[], object], str]] = {
    "torch": (lambda: torch.empty(10**15), "The memory does not hold 3.73e+06 GiB more"),
    "NumPy": (lambda: np.empty((10**9, 10**6)), "The memory does not hold 7.11 PiB more"),
    "Python": (lambda: bytearray(2**62), "The memory does not hold what was asked for"),
}


def cuda() -> None:
    """As torch says it."""
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 7.45 GiB. GPU 0 has a total ...")


@pytest.mark.parametrize("kind", KINDS)
def test_no_memory_in_a_step_of_a_sweep(kind: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    fails, said = KINDS[kind]
    step = Gibbs.step

    def greedy(self: Gibbs, target: Any, state: Any, beta: Tensor, generator: Any) -> Any:
        if state.log_prob.numel() == 100:  # not in the trial
            fails()
        return step(self, target, state, beta, generator)

    monkeypatch.setattr(Gibbs, "step", greedy)
    ended = call(*SWEEP, "seed=[0,1]")
    assert ended.status == 1
    assert "Traceback" not in ended.err
    (line,) = (line for line in ended.err.splitlines() if "memory" in line)
    assert line.startswith(f"    {said} for a batch of 2 seeds of 50 chains (test_memory_errors.py, line ")
    assert line.endswith("; make task.chains or the number of seeds smaller, and repeat the command.")
    assert ended.out.endswith("2 runs done, 2 failed.\n")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"task": {"steps": 5}}, "more; make what it computes smaller, and repeat the command."),
        (
            {"task": {"chains": 50}, "sampler": {"ladder": [1.0, 0.5], "replicas": "auto"}},
            "more for a batch of 3 seeds of 50 chains with 2 replicas; make task.chains, the number of "
            "replicas or the number of seeds smaller, and repeat the command.",
        ),
        (
            {"task": {"chains": 50}, "sampler": {"ladder": "auto", "replicas": "auto"}},
            "more for a batch of 3 seeds of 50 chains; make task.chains, the number of replicas or the "
            "number of seeds smaller, and repeat the command.",
        ),
    ],
)
def test_what_is_to_be_made_smaller(config: dict[str, Any], said: str) -> None:
    with pytest.raises(RuntimeError) as raised:
        cuda()
    raised.value.__traceback__ = None
    found = memory_error(raised.value, config, seeds=3 if "chains" in config["task"] else 1)
    assert str(found) == f"The memory of the GPU does not hold 7.45 GiB {said}"


def test_no_memory_outside_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert reported(cuda) == 1  # type: ignore[arg-type]
    said = capsys.readouterr().err
    assert said.startswith(
        "error: The memory of the GPU does not hold 7.45 GiB more (test_memory_errors.py, "
    )
    assert memory_error(RuntimeError("shapes do not match")) is None


def test_a_target_that_no_memory_holds(call: Call) -> None:
    ended = call("target=bernoulli", "target.d=100000000000000", "sampler=dmala")
    assert ended.status == 2
    assert ended.err == (
        "error: target: targets.synthetic.independent.IndependentBits cannot be built: the memory does not "
        "hold 7.45e+05 GiB more.\n"
    )
