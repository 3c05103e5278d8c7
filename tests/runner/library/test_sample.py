"""`runner.sample`: what it takes, that it is the runner's task `sample`, and that it needs no Hydra."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import metrics
import runner
from metrics import KL
from metrics.library.thread_count import thread_count
from runner.__main__ import main
from runner.execution.errors import UserError
from samplers import DMALA, Gibbs, ParallelTempering, configured
from samplers.kernel import Info, State
from samplers.tuning.tunable import Tunable
from targets import Bernoulli4, Binary, Categorical, Real, Streams, Target
from targets.randomness import Generator
from targets.spaces import Space

SMALL = {"steps": 60, "chains": 4, "seed": 3}


def ones(theta: Tensor) -> Tensor:
    return theta.sum(-1)


@pytest.mark.parametrize(
    ("target", "sampler", "steps", "measured"),
    [
        # A burn-in of a fifth, which is rounded: 12, 13 and 13 steps.
        ("mog", "dmala", 60, ["tv", "kl", "emc", "mmd", "ess", "rhat", "acceptance", "jump"]),
        ("bernoulli4", "pt_dmala", 63, ["tv", "swap_rate", "round_trips", "barrier", "acceptance"]),
        ("bernoulli4", "gibbs", 64, ["tv", "ess"]),
    ],
)
def test_metrics_of_names_are_those_of_the_runner(
    tmp_path: Path, target: str, sampler: str, steps: int, measured: list[str]
) -> None:
    budget = [f"task.steps={steps}", "task.chains=4", "seed=3", "task.record=0", f"output_root={tmp_path}"]
    assert main([f"target={target}", f"sampler={sampler}", f"metric=[{','.join(measured)}]", *budget]) == 0
    (table,) = tmp_path.glob("runs/*/metrics.csv")
    with table.open() as file:
        expected = {row["metric"]: float(row["value"]) for row in csv.DictReader(file)}
    found = runner.sample(target, sampler, steps, chains=4, seed=3)
    assert found.metrics(measured) == {name: expected[name] for name in expected if name != "evaluations"}
    assert found.evaluations[-1] == expected["evaluations"]


def test_a_function_and_a_space_are_a_target() -> None:
    found = runner.sample(ones, Gibbs(), steps=400, chains=20, space=Binary(6), burn_in=100, thin=3)
    assert found.draws.shape == (20, 100, 6)
    assert found.draws.mean() == pytest.approx(torch.tensor(1.0).sigmoid().item(), abs=0.03)


def test_what_is_open_is_tuned_first() -> None:
    tunable = configured(DMALA, acceptance=0.5)
    kernel = tunable.tuned(Bernoulli4(), Streams([0], "tuning"))
    draws = [runner.sample(Bernoulli4(), each, **SMALL).draws for each in (tunable, kernel)]  # type: ignore[arg-type]
    assert (draws[0] == draws[1]).all()


@pytest.mark.parametrize(("width", "size", "reached"), [(1e-4, "0.0001", "0.00"), (1e4, "100", "1.00")])
def test_a_step_size_out_of_reach_is_warned_of(
    width: float, size: str, reached: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def narrow(theta: Tensor) -> Tensor:
        return -(theta / width).square().sum(-1) / 2

    runner.sample(narrow, "mala", space=Real(3), **SMALL)  # type: ignore[arg-type]
    assert capsys.readouterr().err == (
        "warning: tuning mala: no step size from 0.0001 to 100 is accepted with probability 0.574: "
        f"at {size} it is {reached}; give sampler.step_size, or the target in other units.\n"
    )


def test_step_sizes_in_reach_and_the_largest_one_of_a_discrete_space_are_not_warned_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runner.sample(lambda theta: -theta.square().sum(-1) / 2, "mala", space=Real(3), **SMALL)  # type: ignore[arg-type]
    runner.sample(lambda theta: 0.0 * theta.sum(-1), "dmala", space=Binary(3), **SMALL)  # type: ignore[arg-type]
    assert capsys.readouterr().err == ""


def test_the_steps_are_there_one_by_one() -> None:
    found = runner.sample(Bernoulli4(), ParallelTempering(DMALA(0.4), [1.0, 0.5, 0.1]), **SMALL)  # type: ignore[arg-type]
    shapes = {name: values.shape for name, values in found.info.items()}
    assert shapes == {
        **dict.fromkeys(("acceptance_rate", "jump"), (4, 48)),
        **dict.fromkeys(("swap_probability", "swap_attempted", "swap_accepted"), (4, 48, 2)),
        "replica": (4, 48, 3),
    }
    moved = (found.draws[:, 1:] != found.draws[:, :-1]).sum(-1)
    assert (found.info["jump"][:, 1:] == moved).all()


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (("mgo", "dmala"), UserError, "Unknown target 'mgo'; did you mean 'mog'"),
        (("mog", "dmalla"), UserError, "Unknown sampler 'dmalla'; did you mean 'dmala'"),
        (
            ("rbm", "gibbs"),
            UserError,
            "target=rbm is trained before it is sampled from, which runner.run does",
        ),
        ((ones, Gibbs()), TypeError, "a function together with space=.* a function without it was given"),
        ((Bernoulli4, Gibbs()), TypeError, "the class Bernoulli4 itself was given"),
        ((3, Gibbs()), TypeError, "target must be .* 3 was given"),
        ((Bernoulli4(), DMALA), TypeError, "kernel must be .* the class DMALA itself was given"),
        ((Bernoulli4(), ones), TypeError, "kernel must be .* the function ones was given"),
        ((Bernoulli4(), "mala"), ValueError, "needs a real space"),
    ],
)
def test_what_is_no_target_or_kernel_is_one_sentence(
    given: tuple[object, object], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence) as refused:
        runner.sample(*given, steps=10)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


def test_counts_and_step_sizes_may_be_numbers_of_numpy() -> None:
    plain = runner.sample("bernoulli4", DMALA(0.5), chains=3, steps=20, seed=1)
    given = runner.sample(
        "bernoulli4", DMALA(np.float32(0.5)), chains=np.int64(3), steps=np.int64(20), seed=np.int64(1)
    )
    assert np.array_equal(plain.draws, given.draws)
    assert runner.sample("bernoulli4", "gibbs", steps=np.int64(20)).draws.shape[1] == 16
    with pytest.raises(ValueError, match="steps must be a whole number of at least 1, 'x' was given"):
        runner.sample("bernoulli4", "gibbs", steps="x")  # type: ignore[arg-type]


def test_a_space_is_for_a_function_alone() -> None:
    with pytest.raises(TypeError, match="space is for a function; a target has its own, "):
        runner.sample("mog", "dmala", space=Real(2))


def test_metrics_are_named_or_built() -> None:
    found = runner.sample(Bernoulli4(), Gibbs(), **SMALL)  # type: ignore[arg-type]
    assert found.metrics([KL]) == found.metrics(["kl"])
    with pytest.raises(ValueError, match=r"metrics must be one of .*'klt' was given; did you mean 'kl'"):
        found.metrics(["klt"])
    with pytest.raises(TypeError, match="metrics must be a list of names"):
        found.metrics("kl")
    thinned = runner.sample(Bernoulli4(), Gibbs(), thin=2, **SMALL)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="metrics need the draws of every step, thin=2 was given"):
        thinned.metrics(["kl"])


class Spoiling(KL):
    """Empties the draws that it is given."""

    name = "spoiling"

    def update(self, step: int, theta: Tensor, info: Info) -> None:
        theta.zero_()


class Reserved(KL):
    """Has a value with the name of a setting."""

    name = "seed"

    def result(self) -> dict[str, Tensor]:
        return {"seed": torch.ones(self.context.seeds)}


def test_metrics_of_one_s_own_are_tried_on_the_first_draws() -> None:
    """One that changed the draws changed the values of those behind it."""
    found = runner.sample(Bernoulli4(), Gibbs(), **SMALL)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^the metric spoiling must not change the draws that it is"):
        found.metrics([Spoiling, "tv"])
    with pytest.raises(ValueError, match=r"^the metric seed must give another name to its value seed"):
        found.metrics([Reserved])
    with pytest.raises(TypeError, match=r"^what builds metric 1 must give a metrics.Metric, it gave 3$"):
        found.metrics([lambda context: 3])  # type: ignore[list-item, return-value]
    own = type("Own", (KL,), {"name": "own"})
    assert list(found.metrics([own, "tv"]).values()) == list(found.metrics(["kl", "tv"]).values())


def test_every_metric_of_the_command_line_has_its_name_here() -> None:
    from metrics.library.named_metrics import metric_classes

    options = Path(runner.__file__).parents[1] / "conf" / "metric"
    assert {path.stem for path in options.glob("*.yaml")} - {"standard"} == set(metric_classes())
    assert set(metrics.__all__) > {cls.__name__ for cls in metric_classes().values()}


def test_importing_the_runner_is_cheap_and_sampling_needs_no_hydra() -> None:
    code = (
        "import sys, runner; assert 'torch' not in sys.modules and 'hydra' not in sys.modules; "
        "runner.sample('bernoulli4', 'pt_dmala', steps=20); assert 'hydra' not in sys.modules"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


class Unnormalised(Bernoulli4):
    def probabilities(self) -> Tensor:
        return 56.0 * super().probabilities()


class Spaceless(Target):
    def log_prob(self, theta: Tensor) -> Tensor:
        return theta.sum(-1)


class NotSetUp(Target):
    def __init__(self) -> None:
        pass

    def log_prob(self, theta: Tensor) -> Tensor:
        return theta.sum(-1)


@pytest.mark.parametrize("sampler", ["gibbs", "dmala", "dlmc", "pt_gibbs"])
@pytest.mark.parametrize(
    ("target", "space", "error", "said"),
    [
        (
            Unnormalised(),
            None,
            ValueError,
            "The probabilities of Unnormalised must be at least 0 and sum to 1",
        ),
        (ones, Categorical(3, 5), ValueError, "The target ones gave log densities of shape"),
        (lambda theta: theta.sum(), Binary(4), ValueError, "gave log densities of shape ()"),
        (lambda theta: theta.detach().numpy().sum(-1), Binary(4), ValueError, "gave log densities of shape"),
        (NotSetUp(), None, TypeError, "the target NotSetUp must call super().__init__() in its __init__"),
        (Spaceless(), None, TypeError, "the target Spaceless sets no space"),
    ],
)
def test_a_wrong_target_is_one_sentence_also_where_the_sampler_is_tuned(
    target: Any, space: Space | None, error: type[Exception], said: str, sampler: str
) -> None:
    with pytest.raises(error, match=re.escape(said)):
        runner.sample(target, sampler, steps=20, space=space)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "0", None, [0, 1]])
@pytest.mark.parametrize("sampler", ["gibbs", "dmala"])
def test_a_seed_is_a_whole_number(seed: Any, sampler: str) -> None:
    with pytest.raises(ValueError, match="seed must be a whole number of at least 0"):
        runner.sample("bernoulli4", sampler, steps=20, seed=seed)


def test_two_metrics_of_one_name_are_refused() -> None:
    draws = runner.sample("bernoulli4", "gibbs", steps=20)
    own = type("Own", (KL,), {"name": "tv"})
    for wanted in (["tv", own], [own, "tv"], ["tv", "tv"]):
        with pytest.raises(ValueError, match="two have the name 'tv'"):
            draws.metrics(wanted)
    with pytest.raises(TypeError, match="metrics must be names, classes or functions of a Context, 3 was"):
        draws.metrics([3])  # type: ignore[list-item]


class ByNumbers(DMALA):
    """Takes a number alone, and does not say so."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        state.theta + self.step_size * torch.ones(7)
        return super().step(target, state, beta, generator)


def test_a_kernel_that_cannot_take_a_step_size_for_each_candidate_is_told() -> None:
    said = r"a step of ByNumbers with a tensor of step_sizes, one for each of \d+ candidates, fails: Runtime"
    with pytest.raises(ValueError, match=said):
        runner.sample("bernoulli4", configured(ByNumbers), steps=20)


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"burn_in": 300}, ValueError, "at least one draw of 100 steps, 300 and 1 were given"),
        ({"thin": 0}, ValueError, "thin must be a whole number of at least 1, 0 was given"),
        ({"chains": 0}, ValueError, "chains must be a whole number of at least 1, 0 was given"),
        (
            {"burnin": 3},
            UserError,
            r"Unknown argument 'burnin'; did you mean 'burn_in'",
        ),
        ({"kernel": "st_dmala"}, ValueError, "the chains of SimulatedTempering move between temperatures"),
        (
            {"target": Bernoulli4().bfloat16()},
            ValueError,
            "must have a dtype that NumPy has, .*bfloat16 was given",
        ),
    ],
)
def test_what_gives_no_draws_is_refused_before_the_tuning(
    asked: dict[str, Any], error: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tune(self: Tunable, *given: object) -> object:
        raise AssertionError("tuned")

    monkeypatch.setattr(Tunable, "tune", tune)
    with pytest.raises(error, match=said):
        runner.sample(**{"target": "bernoulli4", "kernel": "dmala", "steps": 100, **asked})


def test_names_leave_the_threads_of_the_process_as_they_are() -> None:
    with thread_count(2):
        runner.named_target("bernoulli4")
        assert torch.get_num_threads() == 2
        named, built = (runner.sample(each, Gibbs(), **SMALL) for each in ("bernoulli4", Bernoulli4()))  # type: ignore[arg-type]
        assert torch.get_num_threads() == 2
    # A run of that name has one thread, and so have the draws of it, and their metrics.
    assert (named.source.threads, built.source.threads) == (1, 2)
    seen = []

    class Seeing(KL):
        def result(self) -> dict[str, Tensor]:
            seen.append(torch.get_num_threads())
            return super().result()

    with thread_count(2):
        named.metrics([Seeing])
    assert set(seen) == {1}
