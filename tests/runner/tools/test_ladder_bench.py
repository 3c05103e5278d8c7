"""The bench of ladders: rounds beside as many steps of one chain, on the ladders of `rbm_tempering`."""

from __future__ import annotations

import pytest
import yaml

from runner.tools.bench.steps import ladder_step
from runner.tools.bench.steps.ladder_step import LADDERS, ladder_rows
from runner.tools.bench.timing import BenchRows
from runner.verdicts.cells import CONF
from samplers import Kernel


def test_a_round_is_compared_with_as_many_steps_of_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[list[tuple[int, tuple[int, ...]]]] = []

    def seconds(kernels: dict[int, Kernel], rounds: int) -> dict[int, float]:
        measured.append([(replicas, kernel.axes) for replicas, kernel in kernels.items()])
        return {replicas: 1e-3 if replicas == 1 else 1.5e-3 * replicas for replicas in kernels}

    monkeypatch.setattr(ladder_step, "has_compiler", lambda: True)
    monkeypatch.setattr(ladder_step, "_seconds", seconds)
    bench = BenchRows(lambda row: None)
    ladder_rows(bench, rounds=1)
    assert measured == [
        [(1, ()), *((replicas, (replicas,)) for replicas in ladders)] for _, ladders in LADDERS.values()
    ]
    assert len(bench.found) == 6
    assert bench.found[0][0].startswith("compiled round of 4 replicas of dmala")
    assert bench.found[0][1] == "1.50 times (6.00 against 4.00 ms)"


def test_the_ladders_are_those_of_the_experiment() -> None:
    rows = yaml.safe_load((CONF / "experiment" / "rbm_tempering.yaml").read_text())["sweep"]["rows"]
    found: dict[str, dict[int, float]] = {name: {} for name in LADDERS}
    for row in rows:
        if "sampler.hottest" in row:
            found[row["sampler"].removeprefix("pt_")][row["sampler.replicas"]] = row["sampler.hottest"]
    assert found == {name: ladders for name, (_, ladders) in LADDERS.items()}
