"""The replay buffer: its bookkeeping against a naive twin, its rates by hand, and what goes on in it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from runner.files.checkpoint import UnusableCheckpointError, load_checkpoint, save_checkpoint
from runner.models.training import Training
from runner.models.training.replay_buffer import ReplayBuffer
from samplers import ACS, DMALA, EDULA, Kernel, Tunable
from targets import Ordinal, Streams
from tests.support import training as plain
from tests.support.steps.no_host_sync import NoHostSync
from tests.support.training import KERNELS, assert_same, pt, small_rbm, state_of
from tests.support.tunable import tunable

SIZE, CHAINS = 20, 7
NAMES = pytest.mark.parametrize("name", ["dmala", "acs", "pt_dmala", "gibbs"])


def training(kernel: Kernel | Tunable, **changed: Any) -> Training:
    return plain.training(kernel, plain.settings(**{"buffer": SIZE, **changed}))


def held(run: Training) -> Tensor:
    assert run.chains.buffer is not None
    assert run.chains.buffer.states is not None
    return run.chains.buffer.states


def started(*arguments: Any, axes: tuple[int, ...], model: Any = None) -> tuple[ReplayBuffer, Tensor]:
    """A buffer and its states."""
    buffer = ReplayBuffer(model or small_rbm(), *arguments)
    buffer.begin(axes)
    assert buffer.states is not None
    return buffer, buffer.states


def order(seed: int, iteration: int) -> list[int]:
    """The places of the buffer in the order in which an iteration takes them."""
    keys = Streams([seed], f"replay buffer {iteration}").uniform((1, SIZE), (), torch.float64)[0]
    return sorted(range(SIZE), key=keys.tolist().__getitem__)


# --- the buffer alone -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(), (3,)])
def test_taking_and_putting_are_those_of_a_list(axes: tuple[int, ...]) -> None:
    """A naive twin: a list of places, from which the same rows are copied one by one."""
    buffer, states = started(SIZE, 0.0, 3, axes=axes)
    assert states.shape == (*axes, SIZE, 8)
    assert states.dtype == torch.uint8
    twin = [states[..., place, :].clone() for place in range(SIZE)]
    taken = set()
    for iteration in range(6):
        theta = buffer.take(CHAINS, iteration)
        assert theta.shape == (*axes, 1, CHAINS, 8)
        assert theta.dtype == torch.float64
        places = order(3, iteration)[:CHAINS]
        taken.update(places)
        for chain, place in enumerate(places):
            assert torch.equal(theta[..., 0, chain, :], twin[place].double())
            twin[place] = 1 - twin[place]
        buffer.put(1.0 - theta)
        for place in range(SIZE):
            assert torch.equal(states[..., place, :], twin[place])
    # 42 of 20 places: a buffer that always took the same ones would have seven.
    assert len(taken) > 14


def test_it_begins_with_draws_from_the_models_own_start() -> None:
    """Means of 30,000 bits a pixel within 6 standard errors: false alarm below 1e-7 in all of them."""
    model = small_rbm()
    mean = model.data_mean.copy_(torch.linspace(0.05, 0.95, 8))
    _, states = started(30_000, 0.0, 1, axes=(2,), model=model)
    error = (mean * (1 - mean) / 30_000).sqrt()
    assert ((states.double().mean(1) - mean).abs() < 6 * error).all()
    assert not torch.equal(states[0], states[1])


def test_chains_start_anew_at_the_rate_given_and_in_all_replicas() -> None:
    """The start has no ones and the buffer no zeros: what starts anew shows. 5 standard errors, 1e-6."""
    model = small_rbm()
    model.data_mean.fill_(0.0)
    buffer, states = started(500, 0.2, 1, axes=(3,), model=model)
    seen = []
    for iteration in range(40):
        states.fill_(1)
        theta = buffer.take(250, iteration)
        assert torch.equal(theta, theta[:1, :, :, :1].expand_as(theta))
        seen.append(1.0 - theta[0, 0, :, 0])
    rates = torch.stack(seen)
    assert abs(float(rates.mean()) - 0.2) < 5 * math.sqrt(0.2 * 0.8 / rates.numel())
    assert not torch.equal(rates[0], rates[1])
    never, states = started(500, 0.0, 1, axes=(3,), model=model)
    states.fill_(1)
    assert bool((never.take(250, 0) == 1).all())


def test_without_room_for_its_states_it_is_refused() -> None:
    model = small_rbm()
    model.space = Ordinal(8, 257)  # type: ignore[assignment]
    with pytest.raises(ValueError, match="buffer needs a discrete space of at most 256 levels a coordinate"):
        ReplayBuffer(model, 10, 0.0, 0)


# --- in a training --------------------------------------------------------------------------------------


@NAMES
def test_an_iteration_moves_the_chains_that_it_takes_and_no_other(name: str) -> None:
    run = training(KERNELS[name]())
    run.advance(1)
    for iteration in range(1, 8):
        before = held(run).clone()
        run.advance(1)
        rows = order(5, iteration)
        kept, moved = rows[CHAINS:], rows[:CHAINS]
        after, state = held(run), state_of(run)
        assert torch.equal(after[..., kept, :], before[..., kept, :])
        assert torch.equal(after[..., moved, :].double(), state.theta.squeeze(-3))
        assert not torch.equal(after[..., moved, :], before[..., moved, :])


def test_the_first_iteration_is_that_of_a_loop_written_out() -> None:
    run, model = training(DMALA(0.3), cd_steps=3), small_rbm()
    buffer, _ = started(SIZE, 0.0, 5, axes=(), model=model)
    kernel, one, streams = DMALA(0.3), torch.ones((), dtype=torch.float64), Streams([5], "training chains")
    state = kernel.init(model, buffer.take(CHAINS, 0), one)
    for _ in range(3):
        state, _ = kernel.step(model, state, one, streams)
    run.advance(1)
    assert torch.equal(run.samples(100), state.theta[0].to(torch.uint8))
    assert run.samples(100).dtype == torch.uint8
    assert torch.equal(run.samples(2), run.samples(100)[:2])
    assert run.chains.evaluations == 4


def test_positions_and_turns_go_on_and_labels_begin_anew() -> None:
    acs = training(KERNELS["acs"]())
    acs.advance(5)
    assert int(state_of(acs).aux["position"]) == 10 % 3
    tempered = training(pt(), cd_steps=1)
    tempered.advance(5)
    aux = state_of(tempered).aux
    assert int(aux["tempering.turn"]) == 5
    # One step after they began anew, odd pairs or even ones have met, so no label is two rungs away.
    rungs = torch.arange(3).reshape(3, 1, 1)
    assert int((aux["tempering.replica"] - rungs).abs().max()) == 1
    assert torch.equal(aux["tempering.replica"].sort(0).values[:, 0, 0], torch.arange(3))


def test_an_auxiliary_variable_of_a_chain_begins_where_the_chain_is() -> None:
    """EDLP's theta_a is a chain's own: it is drawn around theta, not kept from the chain before."""
    run = training(EDULA(step_size=1e-9, eta=1e-6, auxiliary_step_size=1e-9), cd_steps=1)
    run.advance(4)
    state = state_of(run)
    assert torch.allclose(state.aux["theta_a"], state.theta, atol=1e-2)


def test_only_the_cold_replicas_are_the_samples() -> None:
    run = training(pt())
    run.advance(3)
    assert torch.equal(run.samples(100).double(), state_of(run).theta[0, 0])
    assert held(run).shape == (3, SIZE, 8)


def test_another_ladder_takes_over_the_places_nearest_by_rank() -> None:
    run = training(pt(0.3, "auto"), iterations=4)
    run.chains._take({"ladder": [1.0, 0.5], "step_size": 0.3})
    run.chains.replay(CHAINS, 1, 0)
    before = held(run).clone()
    run.chains._take({"ladder": [1.0, 0.7, 0.5, 0.2], "step_size": 0.3})
    assert torch.equal(held(run), before[[0, 0, 1, 1]])
    run.chains.replay(CHAINS, 1, 1)
    assert held(run).shape == (4, SIZE, 8)


@pytest.mark.parametrize("name", ["acs", "pt"])
def test_what_is_tuned_on_the_way_is_tuned_with_a_buffer(name: str, tmp_path: Path) -> None:
    kernel = tunable(ACS, cycle_length=4) if name == "acs" else pt(0.3, "auto")
    how: dict[str, Any] = {"iterations": 3, "tune_every": 2, "learning_rate": 0.5}
    run = training(kernel, **how)
    run.advance(1)
    first = run.chains.hyperparameters
    run.advance(1)
    save_checkpoint(tmp_path / "checkpoint.pt", {"training": run.state_dict()})
    run.advance(1)
    assert first is not None
    assert run.chains.hyperparameters is not None
    assert run.chains.hyperparameters != first
    assert held(run).shape[:-2] == run.chains.kernel.axes
    again = training(kernel, **how)
    again.load_state_dict(load_checkpoint(tmp_path / "checkpoint.pt")["training"])
    again.advance(1)
    assert torch.equal(held(again), held(run))
    assert_same(again.target.state_dict(), run.target.state_dict())


def test_the_buffer_of_another_training_is_refused() -> None:
    run = training(DMALA(0.3))
    run.advance(2)
    saved = run.state_dict()
    before = saved["chains"]["buffer"]["states"].clone()
    run.advance(2)
    assert torch.equal(saved["chains"]["buffer"]["states"], before)
    with pytest.raises(UnusableCheckpointError):
        training(DMALA(0.3), buffer=SIZE + 1).load_state_dict(saved)
    saved["chains"]["buffer"]["states"] = before[:-1]
    with pytest.raises(UnusableCheckpointError):
        training(DMALA(0.3)).load_state_dict(saved)


@NAMES
def test_taking_and_putting_wait_for_no_device(name: str) -> None:
    run = training(KERNELS[name](), reinitialisation=0.1)
    run.advance(1)
    with NoHostSync():
        run.chains.replay(CHAINS, 2, 1)
