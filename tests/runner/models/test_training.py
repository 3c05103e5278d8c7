"""Training: chains that are never stale, resume bit for bit, tuning on the way, and what goes wrong."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from runner.execution.errors import RunError
from runner.execution.live import Point, heard_by
from runner.files.checkpoint import UnusableCheckpointError, load_checkpoint, save_checkpoint
from runner.models.training import Training, TrainingError, TrainingImages
from runner.models.training.history import TrainingHistory
from samplers import AB, DMALA, Gibbs, Info, Kernel, ParallelTempering, RBMGibbs, State, Tunable
from samplers.pilot_run import PilotRun, Steps
from samplers.tuning.step_size_tuning import StepSizeTuning
from samplers.tuning.tunable import TuningResult
from targets import RBM, Ordinal, Target
from targets.randomness import Generator
from tests.support.steps.counting_walk import CountingWalk, require_counted
from tests.support.training import (
    AUTOMATIC,
    KERNELS,
    LADDER,
    assert_same,
    gradient,
    halves,
    log_likelihood,
    parameters,
    pt,
    settings,
    small_rbm,
    state_of,
    statistics,
    training,
)
from tests.support.tunable import tunable

FALSE_ALARM = 1e-6
METHODS = pytest.mark.parametrize("method", ["cd", "pcd"])


class Pairs(Target):
    """U = x'Wx on an ordinal space: a model that is no RBM and has no closed-form gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.space = Ordinal(3, 4)
        self.weight = nn.Parameter(torch.zeros(3, 3, dtype=torch.float64))

    def log_prob(self, theta: Tensor) -> Tensor:
        centred = theta - 1.5
        return ((centred @ self.weight) * centred).sum(-1)


class Frozen(Pairs):
    """The same with nothing to learn."""

    def __init__(self) -> None:
        super().__init__()
        weight = self.weight.data
        del self.weight
        self.register_buffer("weight", weight)


@pytest.mark.parametrize(
    ("target", "kernel", "images", "said"),
    [
        (small_rbm, DMALA(0.2), halves(9), "batch must be at most the number of training images, 9, 10 was"),
        (small_rbm, DMALA(0.2), halves(60, 6), r"data must have the shape \(images, 8\), \(60, 6\)"),
        (Frozen, DMALA(0.2), halves(), "target must have parameters to learn, Frozen has none"),
        (Pairs, RBMGibbs(), torch.zeros(60, 3), "rbm_gibbs needs"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    target: Callable[[], Target], kernel: Kernel, images: Tensor, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        Training(target(), kernel, TrainingImages(images), settings(), 0)


# --- the gradient of exact samples ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dmala", "gibbs", "rbm_gibbs", "pt_dmala"])
def test_persistent_chains_at_stationarity_give_the_likelihoods_gradient(name: str) -> None:
    """Mean over 40,000 independent chains; false alarm 1e-6 over 44 parameters, with the power to see CD-1.

    The chains start from the model itself, so that exact kernels keep them there; each parameter's
    gradient is then normal around the exact one, with the variance that enumeration gives. Means of binary
    statistics over so many chains are normal to far better than the band's margin.
    """
    chains, data, kernel = 40_000, halves(), KERNELS[name]()
    how = settings(batch=60, chains=chains, learning_rate=1e-12, cd_steps=3)
    model = small_rbm()
    run = Training(model, kernel, TrainingImages(data), how, seed=2)
    states, pi = model.space.states(), model.probabilities().detach()
    generator = torch.Generator().manual_seed(4)
    rungs = LADDER if kernel.axes else [1.0]
    rows = [_draws(pi.pow(beta), chains, generator) for beta in rungs]
    theta = states[torch.stack(rows)].reshape(*kernel.axes, 1, chains, model.n_visible)
    run.chains.state = run.chains.kernel.init(model, theta, run.chains.beta)
    run.advance(1)
    assert _largest_z(run.target, pi, data) < _limit(44)
    # One bit a step away from the data instead: the same band refuses it.
    biased = Training(
        small_rbm(),
        Gibbs(),
        TrainingImages(data.repeat(200, 1)),
        settings(method="cd", batch=12_000, cd_steps=1, learning_rate=1e-12),
        seed=2,
    )
    biased.advance(1)
    assert _largest_z(biased.target, pi, data, 12_000) > 3 * _limit(44)


def _draws(weights: Tensor, number: int, generator: Generator) -> Tensor:
    assert isinstance(generator, torch.Generator)
    return torch.multinomial(weights, number, replacement=True, generator=generator)


def _limit(comparisons: int) -> float:
    return NormalDist().inv_cdf(1 - FALSE_ALARM / (2 * comparisons))


def _largest_z(model: Target, pi: Tensor, data: Tensor, chains: int = 40_000) -> float:
    """How far the gradient that the last update used is from the likelihood's, in standard errors."""
    start = small_rbm()
    negative, positive = statistics(start, start.space.states()), statistics(start, data.double())
    worst = 0.0
    for name, parameter in model.named_parameters():
        mean = torch.tensordot(pi, negative[name], dims=1)
        variance = torch.tensordot(pi, negative[name].square(), dims=1) - mean.square()
        assert parameter.grad is not None
        z = (parameter.grad - (mean - positive[name].mean(0))) / (variance / chains).sqrt()
        worst = max(worst, float(z.abs().max()))
    return worst


# --- the chains -----------------------------------------------------------------------------------------


def watched(kernel: Kernel, seen: list[float]) -> Kernel:
    """`kernel`, whose every step first notes how far its cache is from the truth, and asserts no autograd."""
    cls = type(kernel)

    def step(
        self: Any, target: Target, state: State, beta: Tensor, generator: Generator
    ) -> tuple[State, Info]:
        assert not torch.is_grad_enabled()
        assert not any(parameter.requires_grad for parameter in target.parameters())
        log_prob, grad = target.log_prob_and_grad(state.theta)
        errors = [(state.log_prob - log_prob).abs().max()]
        if state.grad is not None:
            errors.append((state.grad - grad).abs().max())
        if "hidden_logits" in state.aux and isinstance(target, RBM):
            errors.append((state.aux["hidden_logits"] - target.hidden_logits(state.theta)).abs().max())
        seen.append(float(torch.stack(errors).max()))
        return cls.step(self, target, state, beta, generator)

    kernel.__class__ = type(cls.__name__, (cls,), {"step": step})
    return kernel


@METHODS
@pytest.mark.parametrize("name", KERNELS)
def test_no_step_reads_a_cache_of_the_model_before_the_update(name: str, method: str) -> None:
    seen: list[float] = []
    run = training(watched(KERNELS[name](), seen), settings(method=method))
    before = parameters(run.target)
    run.advance(12)
    assert len(seen) == 24
    assert max(seen) < 1e-10
    assert (parameters(run.target) - before).abs().max() > 0.1


@pytest.mark.parametrize("name", KERNELS)
def test_chains_that_are_not_refreshed_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: `refreshed` hands back what it was given."""
    monkeypatch.setattr(Kernel, "refreshed", lambda self, target, state, beta: state)
    seen: list[float] = []
    training(watched(KERNELS[name](), seen)).advance(12)
    assert max(seen) > 1e-3


def test_persistent_chains_are_those_of_a_loop_written_out() -> None:
    run = training(DMALA(0.3))
    run.advance(6)
    twin = training(DMALA(0.3))
    model, kernel, chains = twin.target, twin.chains.kernel, twin.chains
    theta = None
    for iteration in range(6):
        data = twin.batches.at(iteration)
        if theta is None:
            theta = chains._begin(7).theta
        state = kernel.init(model, theta, chains.beta)
        for _ in range(2):
            state, _ = kernel.step(model, state, chains.beta, chains.streams)
        theta = state.theta
        for name, value in gradient(model, theta.flatten(0, 1), data).items():
            dict(model.named_parameters())[name].grad = value
        model.requires_grad_(False)
        twin.optimiser.step(iteration)
    assert torch.equal(state_of(run).theta, theta)
    assert torch.allclose(parameters(run.target), parameters(twin.target), atol=1e-14)


def test_only_the_cold_replica_enters_the_gradient_and_the_hot_ones_persist() -> None:
    run = training(pt(), settings(learning_rate=1e-12))
    run.advance(3)
    state = state_of(run)
    assert state.theta.shape == (3, 1, 7, 8)
    data = run.batches.at(run.iteration - 1)
    used = {name: p.grad for name, p in run.target.named_parameters()}
    for replica in range(3):
        found = gradient(run.target, state.theta[replica, 0], data)
        same = all(torch.allclose(found[name], used[name], atol=1e-9) for name in found)
        assert same == (replica == 0)
    before = state.theta
    run.chains.persist(7, 1)
    moved = (state_of(run).theta != before).double().mean((1, 2, 3))
    assert ((moved > 0) & (moved < 0.6)).all()


@METHODS
def test_positions_turns_and_labels_go_on_through_the_updates(method: str) -> None:
    acs = training(KERNELS["acs"](), settings(method=method))
    acs.advance(5)
    assert int(state_of(acs).aux["position"]) == 10 % 3
    tempered = training(pt(), settings(method=method))
    tempered.advance(5)
    aux = state_of(tempered).aux
    assert int(aux["tempering.turn"]) == 10
    assert torch.equal(aux["tempering.replica"].sort(0).values[:, 0, 0], torch.arange(3))
    assert (aux["tempering.replica"] != torch.arange(3).reshape(3, 1, 1)).any()


@METHODS
def test_a_whole_number_of_a_chain_is_that_of_its_state(method: str) -> None:
    run = training(CountingWalk(), settings(method=method))
    run.advance(4)
    require_counted(state_of(run))


def test_contrastive_chains_start_from_the_batch() -> None:
    """A kernel that stays where it is draws the batch itself, so that nothing is learned."""
    run = training(DMALA(1e-3), settings(method="cd"))
    before = parameters(run.target)
    run.advance(3)
    # Adam makes a step of the learning rate of any gradient that is not rounding.
    assert (parameters(run.target) - before).abs().max() < 1e-6
    assert torch.equal(state_of(run).theta[0], run.batches.at(2))


# --- stopping and going on ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *itertools.product(KERNELS, ("cd", "pcd")),
        *((name, "pcd") for name in AUTOMATIC),
        ("dmala auto", "cd"),
    ],
)
def test_a_resumed_training_ends_with_the_same_bits(name: str, method: str, tmp_path: Path) -> None:
    make = {**KERNELS, **AUTOMATIC}[name]
    how = settings(
        method=method,
        iterations=8,
        tune_every=4 if name in AUTOMATIC else None,
        learning_rate_decay="linear",
        weight_decay=0.01,
        averaging=0.5,
    )

    def fresh() -> Training:
        return training(make(), how, model=small_rbm().float(), held_out=halves(20, seed=8), records=3)

    whole = fresh()
    whole.advance(100)
    cut = fresh()
    # Stops before the first iteration, within an interval of the history, and right before a tuning.
    for stop in (0, 3, 4, 7, 8):
        cut.advance(stop - cut.iteration)
        save_checkpoint(tmp_path / "checkpoint.pt", {"training": cut.state_dict()})
        cut = fresh()
        cut.load_state_dict(load_checkpoint(tmp_path / "checkpoint.pt")["training"])
    assert whole.finished
    assert cut.finished
    assert_same(whole.state_dict(), cut.state_dict())
    assert whole.history.records[-1]["iteration"] == 8


def test_decay_and_averaging_are_those_of_a_loop_written_out() -> None:
    """Adam written out from Kingma and Ba (2015), Algorithm 1, fed with the training's gradients."""
    how = settings(
        iterations=12, learning_rate=0.05, learning_rate_decay="linear", weight_decay=0.3, averaging=0.6
    )
    run = training(DMALA(0.3), how)
    values = [p.detach().clone() for p in run.target.parameters()]
    first, second = ([torch.zeros_like(v) for v in values] for _ in range(2))
    average = [v.clone() for v in values]
    for t in range(12):
        run.advance(1)
        gradients = [p.grad for p in run.target.parameters() if p.grad is not None]
        rate, kept = 0.05 * (1 - t / 12), min(0.6, (1 + t) / (10 + t))
        for place, given in enumerate(gradients):
            g = given + (0.3 * values[place] if values[place].dim() > 1 else 0.0)
            first[place] = 0.9 * first[place] + 0.1 * g
            second[place] = 0.999 * second[place] + 0.001 * g**2
            ahead = first[place] / (1 - 0.9 ** (t + 1))
            values[place] = values[place] - rate * ahead / (
                (second[place] / (1 - 0.999 ** (t + 1))).sqrt() + 1e-8
            )
            average[place] = kept * average[place] + (1 - kept) * values[place]
    assert (values[0] - average[0]).abs().max() > 1e-4
    for parameter, mean in zip(run.target.parameters(), average, strict=True):
        torch.testing.assert_close(parameter.detach(), mean, atol=1e-9, rtol=1e-7)


def test_the_last_record_is_one_of_the_model_that_results() -> None:
    held_out = halves(20, seed=8)
    run = training(DMALA(0.3), settings(iterations=12, learning_rate=0.2, averaging=0.99), held_out=held_out)
    run.advance(12)
    last = run.history.records[-1]["values"]["free_energy_gap"]
    with torch.no_grad():
        seen, unseen = (run.target.log_prob(part.double()).mean() for part in (halves(), held_out))
    assert last == pytest.approx(float(seen - unseen))


def test_without_averaging_the_model_is_that_of_the_last_iteration() -> None:
    one, other = training(DMALA(0.3), settings(iterations=5)), training(DMALA(0.3), settings(iterations=6))
    one.advance(5)
    other.advance(5)
    assert torch.equal(parameters(one.target), parameters(other.target))


def test_a_state_dict_is_a_copy() -> None:
    run = training(DMALA(0.3))
    run.advance(2)
    saved = run.state_dict()
    before = copy.deepcopy(saved)
    run.advance(2)
    assert_same(saved, before)


OTHERS: dict[str, Callable[[], Training]] = {
    "settings": lambda: training(DMALA(0.3), settings(cd_steps=3)),
    "tempered": lambda: training(pt()),
    "cyclical": lambda: training(KERNELS["acs"]()),
    "model": lambda: training(DMALA(0.3), model=RBM(8, 5)),
    "seed": lambda: Training(small_rbm(), DMALA(0.3), TrainingImages(halves()), settings(), 6),
    "data": lambda: Training(small_rbm(), DMALA(0.3), TrainingImages(halves(50)), settings(), 5),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_checkpoint_of_another_training_is_refused(other: str) -> None:
    run = training(DMALA(0.3))
    run.advance(2)
    with pytest.raises(UnusableCheckpointError):
        OTHERS[other]().load_state_dict(run.state_dict())


# --- tuning ---------------------------------------------------------------------------------------------


class Logged(Tunable):
    """DMALA that logs when it was tuned; every tuning finds another number of rungs."""

    open = ("rungs",)

    def __init__(self, log: list[Tensor]) -> None:
        self.log, self.example = log, Rungs(1)

    def tuning(self, target: Target, run: PilotRun[TuningResult]) -> Steps[TuningResult]:
        self.log.append(next(target.parameters()).detach().clone())
        yield
        return TuningResult({"rungs": 1 + len(self.log)}, 1000, {"tuning": len(self.log)})

    def kernel_at(self, hyperparameters: Any) -> Kernel:
        return Rungs(hyperparameters["rungs"])


class Rungs(Kernel):
    """DMALA with a number of replicas that never swap."""

    def __init__(self, rungs: int) -> None:
        self.rungs, self.axes = rungs, (rungs,)

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        assert theta.shape[0] == self.rungs
        return DMALA(0.3).init(target, theta, beta)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        return DMALA(0.3).step(target, state, beta, generator)

    def draws(self, state: State) -> Tensor:
        return state.theta[0]


def test_tuning_happens_at_the_start_and_every_so_many_iterations_and_is_counted() -> None:
    log: list[Tensor] = []
    run = training(Logged(log), settings(tune_every=5))
    for _ in range(12):
        run.advance(1)
    assert len(log) == 3
    assert not torch.equal(log[0], log[1])
    assert torch.equal(log[0], small_rbm().weight)
    assert state_of(run).theta.shape == (4, 1, 7, 8)
    # Two steps of one evaluation an iteration, and one evaluation of every replica before them.
    refreshes = 5 * 2 + 5 * 3 + 2 * 4
    assert run.chains.evaluations == 3 * 1000 + 12 * 2 + refreshes
    # A longer ladder takes over the replicas that are nearest by rank.
    before = state_of(run).theta
    run.chains.tune(15)
    assert torch.equal(state_of(run).theta, before[[0, 1, 2, 2, 3]])


def test_a_training_that_is_stopped_in_a_pilot_goes_on_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fresh() -> Training:
        return training(tunable(DMALA), settings(iterations=4, tune_every=3, tuning_effort=0.4))

    whole = fresh()
    whole.advance(4)
    monkeypatch.setattr("samplers.pilot_run.BLOCK_STEPS", 9)
    cut, pilots = fresh(), set()
    while not cut.finished:
        cut.advance(10, pausing=True)
        if cut.chains.pilot is not None:
            pilots.add((cut.iteration, cut.chains.pilot.position))
        save_checkpoint(tmp_path / "checkpoint.pt", cut.state_dict())
        cut = fresh()
        cut.load_state_dict(load_checkpoint(tmp_path / "checkpoint.pt"))
    assert len([at for at, _ in pilots if at == 0]) >= 2
    assert len([at for at, _ in pilots if at == 3]) >= 2
    assert torch.equal(state_of(cut).theta, state_of(whole).theta)
    assert cut.chains.hyperparameters == whole.chains.hyperparameters
    assert cut.chains.evaluations == whole.chains.evaluations


def test_without_an_interval_it_is_tuned_once_and_numbers_never(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log: list[Tensor] = []
    training(Logged(log)).advance(12)
    assert len(log) == 1
    monkeypatch.setattr(StepSizeTuning, "tune", None)
    training(DMALA(0.3), settings(tune_every=1)).advance(3)


def test_a_sampler_that_cannot_be_tuned_ends_the_training_in_one_sentence() -> None:
    sampler = tunable(ParallelTempering, AB(1.0, 0.7), ladder=LADDER, step_size="auto")
    spoilt = training(sampler)
    next(spoilt.target.parameters()).fill_(torch.nan)
    with pytest.raises(RunError, match=r"cannot be tuned to the model of iteration 0: the target gave"):
        spoilt.advance(1)


def test_the_ladder_and_the_step_sizes_can_be_left_to_tuning() -> None:
    """A training that goes on from a checkpoint still knows the ladder."""
    run, again = (training(pt("auto", "auto", replicas=3), settings(iterations=2)) for _ in range(2))
    run.advance(1)
    found = run.chains.hyperparameters
    assert found is not None
    assert len(found["ladder"]) == len(found["step_size"]) == 3
    assert run.chains.evaluations > 1000
    again.load_state_dict(run.state_dict())
    again.advance(1)
    for record in again.history.records:
        assert record["rungs"]["inverse_temperature"] == found["ladder"]


# --- learning -------------------------------------------------------------------------------------------


@METHODS
@pytest.mark.parametrize("name", ["dmala", "edmala", "acs", "rbm_gibbs", "pt_dmala"])
def test_the_likelihood_of_structured_data_rises(name: str, method: str) -> None:
    """From the data-mean model, which knows nothing of the two images, by half of what there is to gain."""
    data = halves(500, noise=0.2)
    model = RBM(8, 4, data.double().mean(0), seed=1).requires_grad_(False)
    before = log_likelihood(model, data)
    how = settings(method=method, iterations=300, batch=100, chains=200, cd_steps=3, learning_rate=0.02)
    Training(model, KERNELS[name](), TrainingImages(data), how, seed=0).advance(300)
    entropy = math.log(2) - 8 * (0.2 * math.log(0.2) + 0.8 * math.log(0.8))
    gain = float(log_likelihood(model, data) - before)
    assert 0.5 < gain / (-entropy - float(before)) < 1.2


def test_any_target_with_parameters_can_be_learned() -> None:
    truth, model = Pairs(), Pairs()
    truth.weight.data = torch.tensor(
        [[0.0, 0.5, 0.0], [0.0, 0.0, -0.4], [0.0, 0.0, 0.0]], dtype=torch.float64
    )
    states = truth.space.states()
    pi = truth.log_prob(states).detach().softmax(0)
    data = states[_draws(pi, 4000, torch.Generator().manual_seed(0))].to(torch.uint8)
    how = settings(iterations=300, batch=500, chains=500, cd_steps=4, learning_rate=0.02)
    run = Training(model, DMALA(0.5), TrainingImages(data), how, seed=1)

    def distance() -> float:
        return float((pi * (pi.log() - model.log_prob(states).log_softmax(0))).sum())

    before = distance()
    run.advance(300)
    assert distance() < 0.05 * before


# --- history and what goes wrong ------------------------------------------------------------------------


def test_the_history_is_bounded_and_its_means_are_those_of_the_iterations() -> None:
    held_out = halves(20, seed=8)
    every = training(DMALA(0.3), settings(iterations=50), records=1000, held_out=held_out)
    few = training(DMALA(0.3), settings(iterations=50), records=7, held_out=held_out)
    every.advance(50)
    few.advance(50)
    assert [record["iteration"] for record in every.history.records] == list(range(1, 51))
    assert len(few.history.records) == 7
    at = 0
    for record in few.history.records:
        between = every.history.records[at : record["iteration"]]
        at = record["iteration"]
        for key in ("loss", "acceptance"):
            mean = sum(r["values"][key] for r in between) / len(between)
            assert record["values"][key] == pytest.approx(mean, abs=1e-12)
        assert record["evaluations"] == between[-1]["evaluations"] == 3 * at
        assert record["values"]["free_energy_gap"] == between[-1]["values"]["free_energy_gap"]
    assert at == 50
    seconds = [record["seconds"] for record in few.history.records]
    assert seconds == sorted(seconds)
    assert 0 < seconds[-1] <= few.seconds
    with torch.no_grad():
        parts = [few.target.log_prob(part.double()).mean() for part in (halves(), held_out)]
    assert few.history.records[-1]["values"]["free_energy_gap"] == pytest.approx(float(parts[0] - parts[1]))


def test_rates_by_rung_are_means_of_the_iterations_since_the_last_record() -> None:
    every, few = (training(pt(), settings(iterations=12), records=records) for records in (12, 3))
    for run in (every, few):
        run.advance(12)
    for place, record in enumerate(few.history.records):
        between = every.history.records[4 * place : 4 * place + 4]
        for name, length in (("acceptance", 3), ("swap_rate", 2)):
            each = torch.tensor([one["rungs"][name] for one in between], dtype=torch.float64)
            assert record["rungs"][name] == pytest.approx(each.mean(0).tolist(), rel=1e-12)
            assert len(record["rungs"][name]) == length
        assert record["rungs"]["acceptance"][0] == pytest.approx(record["values"]["acceptance"], rel=1e-12)
        swaps = sum(record["rungs"]["swap_rate"]) / 2
        assert swaps == pytest.approx(record["values"]["swap_rate"], rel=1e-12)
        assert record["rungs"]["acceptance"][0] != record["rungs"]["acceptance"][2]
    alone = training(DMALA(0.3), settings(iterations=2))
    alone.advance(2)
    assert "rungs" not in alone.history.records[-1]


def test_rates_by_rung_begin_anew_with_a_ladder_of_another_length() -> None:
    history = TrainingHistory(4, 1, torch.device("cpu"))
    for rates in ([0.9, 0.1], [0.2, 0.4, 0.6], [0.4, 0.4, 0.8]):
        history.add({"loss": torch.zeros(())}, {"acceptance": torch.tensor(rates)})
    history.record(3, 3, 1.0, {})
    assert history.records[0]["rungs"]["acceptance"] == pytest.approx([0.3, 0.4, 0.7])
    history.add({"loss": torch.zeros(())})
    history.record(4, 4, 1.0, {})
    assert "rungs" not in history.records[1]


def test_a_record_that_an_older_version_began_has_no_rates_by_rung() -> None:
    """They would be of a part of its iterations."""
    run = training(pt(), settings(iterations=12), records=3)
    run.advance(2)
    saved = run.state_dict()
    del saved["history"]["rungs"]
    taken_up = training(pt(), settings(iterations=12), records=3)
    taken_up.load_state_dict(saved)
    taken_up.advance(12)
    assert ["rungs" in record for record in taken_up.history.records] == [False, True, True]


def test_no_more_iterations_than_asked_for_and_replicas_count_as_evaluations() -> None:
    run = training(pt())
    run.advance(10**6)
    assert run.chains.evaluations == 12 * 3 * (2 + 1)
    end = parameters(run.target)
    run.advance(5)
    assert run.iteration == 12
    assert torch.equal(parameters(run.target), end)
    assert "free_energy_gap" not in run.history.records[-1]["values"]


def test_a_nan_stops_the_training_and_the_last_good_checkpoint_stays(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    run = training(DMALA(0.3), settings(iterations=100))
    run.advance(5, path)
    save_checkpoint(path, {"training": run.state_dict()})
    run.target.weight.data[0, 0] = math.nan
    with pytest.raises(TrainingError) as raised:
        run.advance(5, path)
    assert isinstance(raised.value, RunError)
    assert raised.value.status == 1
    assert raised.value.iteration == 6
    message = str(raised.value)
    assert message == (
        "Training stopped at iteration 6, where the loss is not finite (loss nan); "
        f"the last good checkpoint is kept at {path}."
    )
    again = training(DMALA(0.3), settings(iterations=100))
    again.load_state_dict(load_checkpoint(path)["training"])
    again.advance(5, path)
    assert again.iteration == 10
    assert parameters(again.target).isfinite().all()


def test_parameters_that_overflow_stop_the_training_in_the_iteration_that_did_it() -> None:
    run = training(DMALA(0.3), settings(learning_rate=1e300), model=small_rbm().float())
    with pytest.raises(
        TrainingError, match=r"iteration 1, where the parameters are not finite .*no checkpoint yet"
    ):
        run.advance(1)


class Looking:
    """Asks for the pictures of every recorded point."""

    def __init__(self) -> None:
        self.seen: list[Mapping[str, Any]] = []

    def state(self, title: str) -> None: ...

    def recorded(self, point: Point) -> None:
        assert point.pictures is not None
        self.seen.append(point.pictures(0))


def test_pictures_are_the_chains_as_they_stand_for_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    images, looking = TrainingImages(halves(), shape=(2, 4)), Looking()
    run = Training(small_rbm(), pt(), images, settings(iterations=4), seed=5)
    with heard_by(looking):
        run.advance(1)
    assert torch.equal(torch.from_numpy(looking.seen[0]["draws"]).flatten(1), run.samples(64) > 0)
    assert looking.seen[0]["draws"].shape == (7, 2, 4)
    with heard_by(looking):
        Training(small_rbm(), pt(), TrainingImages(halves()), settings(iterations=2), seed=5).advance(1)
    assert looking.seen[1] == {}
    monkeypatch.setattr("runner.models.training.contrastive_divergence.chain_pictures", None)
    run.advance(2)
    assert run.iteration == 3
