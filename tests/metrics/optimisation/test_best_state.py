"""The best state of a run is that of all its draws with the largest log density, by brute force."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from metrics import BestLogProb, Context, MetricSuite
from runner.site.content.pictures import states_of
from runner.store.arrays.array_files import BEST, load_best, suite_files
from samplers import Gibbs
from samplers.kernel import Info
from targets import Bernoulli4, MaxCut, Target
from targets.spaces import Binary
from targets.synthetic.mixture_of_gaussians import MixtureOfGaussians
from tests.support.commands import finished, one, summary

SEEDS, CHAINS, STEPS = 2, 3, 12


def draws_of(target: Target) -> list[torch.Tensor]:
    return [
        target.initial((SEEDS, CHAINS), torch.Generator().manual_seed(step)) for step in range(1, STEPS + 1)
    ]


def suite_of(target: Target, draws: list[torch.Tensor], first: int = 1) -> MetricSuite:
    context = Context(target, Gibbs(), seeds=SEEDS, chains=CHAINS, device=torch.device("cpu"))
    suite = MetricSuite(context, {"best_log_prob": BestLogProb})
    info = Info(torch.ones(SEEDS, CHAINS), torch.zeros(SEEDS, CHAINS), 1)
    for step, theta in enumerate(draws, first):
        suite.update(step, theta, info)
    return suite


@pytest.mark.parametrize("target", [Bernoulli4(), MixtureOfGaussians(8)], ids=["binary", "ordinal"])
def test_it_is_the_best_of_all_draws(target: Target, tmp_path: Path) -> None:
    draws = draws_of(target)
    whole, later = suite_of(target, draws), suite_of(target, draws[5:], first=6)
    joined = suite_of(target, draws[:5])
    joined.merge(later)
    log_prob = torch.stack([target.log_prob(theta) for theta in draws])
    for place in range(SEEDS):
        best = log_prob[:, place].max()
        step = int(log_prob[:, place].argmax()) // CHAINS
        for suite in (whole, joined):
            values = {name: float(value[place]) for name, value in suite.result().items()}
            assert values == {"best_log_prob": float(best), "best_log_prob_step": step + 1}
            (tmp_path / BEST).write_bytes(suite_files(suite, place)[BEST])
            with np.load(tmp_path / BEST) as found:
                assert float(found["log_prob"]) == float(best)
                assert int(found["step"]) == values["best_log_prob_step"]
                at = draws[int(found["step"]) - 1][place, int(found["chain"])]
                assert np.array_equal(found["state"], at.numpy())
        assert float(target.log_prob(torch.as_tensor(load_best(tmp_path)).double())) == pytest.approx(best)


def test_a_run_keeps_it_where_it_is_asked_for(tmp_path: Path) -> None:
    run = (
        "target=bernoulli4",
        "sampler=pt_gibbs",
        "sampler.ladder=[1,0.5]",
        "task.steps=40",
        "task.chains=3",
    )
    asked = finished(tmp_path / "asked", *run, "metric=[tv,best_log_prob]")
    state = torch.as_tensor(load_best(one("runs/*/best.npz", asked).parent)).double()
    best = float(Bernoulli4().log_prob(state))
    assert summary(asked)["metrics"]["best_log_prob"] == pytest.approx(best, rel=1e-6)
    without = finished(tmp_path / "without", *run, "metric=tv")
    assert not list(without.glob("runs/*/best.npz"))
    assert summary(asked)["metrics"]["tv"] == summary(without)["metrics"]["tv"]


class Picture(Target):
    """Images of 16 x 16 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.space = Binary(256)
        self.weight: torch.Tensor
        self.register_buffer("weight", torch.linspace(-1, 1, 256))

    def log_prob(self, theta: torch.Tensor) -> torch.Tensor:
        return theta @ self.weight


def test_the_page_of_a_run_shows_it_where_it_is_an_image(tmp_path: Path) -> None:
    assert states_of(tmp_path) == []
    for target, shown in ((Picture(), ["Most likely draw of the run"]), (Bernoulli4(), [])):
        (tmp_path / BEST).write_bytes(suite_files(suite_of(target, draws_of(target)), 0)[BEST])
        assert [picture.title for picture in states_of(tmp_path)] == shown


def test_the_state_of_a_graph_names_its_nodes(tmp_path: Path) -> None:
    """A list of edges numbers its nodes as it comes to them."""
    (tmp_path / "own.edges").write_text("3 1 5\n1 10 2\n10 2 7\n2 3 1\n")
    target = MaxCut(file=str(tmp_path / "own.edges"))
    draws = draws_of(target)
    (tmp_path / BEST).write_bytes(suite_files(suite_of(target, draws), 0)[BEST])
    with np.load(tmp_path / BEST) as found:
        side = dict(zip(found["nodes"].tolist(), found["state"].tolist(), strict=True))
    weights = {("3", "1"): 5, ("1", "10"): 2, ("10", "2"): 7, ("2", "3"): 1}
    cut = sum(weight for (one, other), weight in weights.items() if side[one] != side[other])
    assert cut == max(float(target.objective(theta)[0].max()) for theta in draws)
