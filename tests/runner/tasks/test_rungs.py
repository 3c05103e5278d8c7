"""A run with a ladder keeps the acceptance and the swap rate of each rung, and its page shows them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from metrics import SwapRate
from metrics.mixing.swaps import rates_by_rung
from runner.site.index.run_entry import run_entry_of
from runner.site.pages.run_page import rungs_chart
from runner.store.run_store import Store
from samplers import DMALA, ParallelTempering, State
from targets.randomness import Streams
from tests.support.commands import Call, one, summary
from tests.support.measuring import context, measure, noisy_infos, random_draws
from tests.support.steps.stepping import ONE
from tests.support.targets.modes import corners
from tests.support.targets.small_targets import SPACES, random_target


def test_a_step_tells_the_acceptance_of_every_rung() -> None:
    target, betas = random_target(SPACES["binary"], seed=3), [1.0, 0.5, 0.1]
    kernel = ParallelTempering(DMALA(step_size=0.8), betas)
    state = kernel.init(target, target.initial((3, 2, 4), Streams(range(2), "start")), ONE)
    before = State(state.theta, state.log_prob, state.grad)
    _, alone = DMALA(step_size=0.8).step(
        target, before, torch.tensor(betas, dtype=torch.float64).reshape(3, 1, 1), Streams(range(2), "test")
    )
    _, info = kernel.step(target, state, ONE, Streams(range(2), "test"))
    assert info.rungs is not None
    assert torch.equal(info.rungs, alone.acceptance)
    assert torch.equal(info.rungs[0], info.acceptance)
    assert float(alone.acceptance.min()) < 1.0


def test_rates_by_rung_equal_the_loops() -> None:
    target, infos = corners(), noisy_infos(steps=9, seeds=2, chains=3, replicas=4)
    told = context(target, 2, 3, 4)
    measure(told, [SwapRate], random_draws(target, 9, 2, 3), infos)
    for seed in range(2):
        found = rates_by_rung(told, seed)
        assert found is not None
        swaps = [info.swap for info in infos if info.swap is not None]
        for name, per_step in (
            ("acceptance", [info.rungs for info in infos if info.rungs is not None]),
            ("swap_rate", [swap.probability for swap in swaps]),
        ):
            assert len(per_step) == 9
            wanted = [
                math.fsum(float(value) for step in per_step for value in step[rung, seed]) / 27
                for rung in range(len(per_step[0]))
            ]
            assert found[name] == pytest.approx(wanted, rel=1e-12)
    silent = context(target, 2, 3, 4)
    measure(silent, [SwapRate], random_draws(target, 9, 2, 3), [replace(info, rungs=None) for info in infos])
    unsaid = rates_by_rung(silent, 0)
    assert unsaid is not None
    assert list(unsaid) == ["swap_rate"]
    assert rates_by_rung(context(target, 1, 1), 0) is None


SAMPLING = ("target=bernoulli4", "task.steps=40", "task.chains=3")
LEARNING = (
    *("task=learn", "target=rbm", "target.dataset=digits", "target.n_hidden=4", "task.iterations=7"),
    *("task.cd_steps=3", "task.chains=6", "task.ais.temperatures=10", "task.ais.chains=5"),
    *("task.ais.draw_steps=3", "dtype=float64"),
)


@pytest.mark.parametrize("work", [SAMPLING, LEARNING], ids=["sample", "learn"])
def test_the_page_of_a_run_shows_its_own_rates(call: Call, work: tuple[str, ...]) -> None:
    ladder = ("sampler=pt_dmala", "sampler.ladder=[1,0.5,0]", "sampler.step_size=[1,2,4]")
    assert call(*work, *ladder).status == 0
    found = summary()
    rates, metrics = found["rungs"], found["metrics"]
    assert rates["acceptance"][0] == pytest.approx(metrics["acceptance"], rel=1e-12)
    assert sum(rates["swap_rate"]) / 2 == pytest.approx(metrics["swap_rate"], rel=1e-12)
    assert [len(rates[name]) for name in ("acceptance", "swap_rate")] == [3, 2]
    run = Store("outputs").run(one("runs/*/summary.json").parent.name)
    chart = rungs_chart(run_entry_of(run, "stamp"), {})
    assert chart is not None
    bars = {plot["name"]: plot["traces"][0] for plot in chart["plots"]}
    assert bars["acceptance"]["y"] == rates["acceptance"]
    assert bars["swap rate with the next rung"]["y"] == rates["swap_rate"]
    assert bars["acceptance"]["x"] == ["0", "1", "2"]
    assert bars["acceptance"]["customdata"][1] == ", inverse temperature 0.5"


def test_a_learned_run_shows_the_ladder_that_was_tuned(call: Call) -> None:
    """The second half of its seven iterations has the ladder of the second pilot."""
    ladder = ("sampler=pt_dmala", "sampler.ladder=auto", "sampler.replicas=3", "sampler.step_size=1")
    assert call(*LEARNING, *ladder, "task.tune_every=4", "scale=smoke").status == 0
    rates = summary()["rungs"]
    betas = rates["inverse_temperature"]
    assert [len(each) for each in (betas, rates["acceptance"], rates["swap_rate"])] == [3, 3, 2]
    assert betas[0] == 1.0 > betas[1] > betas[2] >= 0.0
    chart = rungs_chart(
        run_entry_of(Store("outputs").run(one("runs/*/summary.json").parent.name), "stamp"), {}
    )
    assert chart is not None
    bars = {plot["name"]: plot["traces"][0] for plot in chart["plots"]}
    assert bars["inverse temperature"]["y"] == betas
    assert bars["acceptance"]["customdata"][1] == f", inverse temperature {betas[1]:.4g}"
