"""The replay buffer: its bookkeeping against a naive twin, its rates by hand, and what goes on in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from runner.execution.checkpoint import UnusableCheckpointError, load_checkpoint, save_checkpoint
from runner.models.training import Training, TrainingImages, TrainingSettings
from runner.models.training.replay_buffer import ReplayBuffer
from samplers.discrete.acs import ACS
from samplers.discrete.dmala import DMALA
from samplers.discrete.gibbs import Gibbs
from samplers.entropic.edula import EDULA
from samplers.kernel import Kernel
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tuning.configured import configured
from targets.models.rbm import RBM
from targets.randomness import Streams
from targets.spaces import Ordinal
from tests.support.no_host_sync import NoHostSync
from tests.support.tunable import tunable

LADDER = [1.0, 0.7, 0.4]
SIZE, CHAINS = 20, 7


def images(rows: int = 60, pixels: int = 8) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    half = torch.arange(pixels) < pixels // 2
    flips = torch.rand((rows, pixels), generator=generator) < 0.1
    return ((torch.arange(rows).unsqueeze(-1) % 2).bool() ^ half ^ flips).to(torch.uint8)


def machine() -> RBM:
    model = RBM(8, 4, images().double().mean(0), seed=1).requires_grad_(False)
    model.weight.data *= 3.0
    return model


def pt(ladder: Any = LADDER, step_size: Any = 0.3) -> Any:
    return configured(ParallelTempering, DMALA(1.0), ladder=ladder, step_size=step_size)


KERNELS: dict[str, Callable[[], Kernel]] = {
    "dmala": lambda: DMALA(0.3),
    "acs": lambda: ACS(cycle_length=3, step_size=1.0, min_step_size=0.2, balancing=0.6),
    "pt_dmala": pt,
    "gibbs": Gibbs,
}


def training(kernel: Kernel, **changed: Any) -> Training:
    plain = {"method": "pcd", "cd_steps": 2, "iterations": 12, "batch": 10, "learning_rate": 0.05}
    how = TrainingSettings(**{**plain, "chains": CHAINS, "buffer": SIZE, **changed})
    return Training(machine(), kernel, TrainingImages(images()), how, seed=5)


def held(run: Training) -> Tensor:
    assert run.chains.buffer is not None
    assert run.chains.buffer.states is not None
    return run.chains.buffer.states


# --- the buffer alone -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [(), (3,)])
def test_taking_and_putting_are_those_of_a_list(axes: tuple[int, ...]) -> None:
    """A naive twin: a list of places, from which the same rows are copied one by one."""
    buffer = ReplayBuffer(machine(), SIZE, 0.0, seed=3)
    buffer.begin(axes)
    assert buffer.states is not None
    assert buffer.states.shape == (*axes, SIZE, 8)
    assert buffer.states.dtype == torch.uint8
    twin = [buffer.states[..., place, :].clone() for place in range(SIZE)]
    taken = set()
    for iteration in range(6):
        theta = buffer.take(CHAINS, iteration)
        assert theta.shape == (*axes, 1, CHAINS, 8)
        assert theta.dtype == torch.float64
        keys = Streams([3], f"replay buffer {iteration}").uniform((1, SIZE), (), torch.float64)[0]
        places = sorted(range(SIZE), key=lambda place, keys=keys: float(keys[place]))[:CHAINS]
        taken.update(places)
        assert len(set(places)) == CHAINS
        for chain, place in enumerate(places):
            assert torch.equal(theta[..., 0, chain, :], twin[place].double())
            twin[place] = 1 - twin[place]
        buffer.put(1.0 - theta)
        for place in range(SIZE):
            assert torch.equal(buffer.states[..., place, :], twin[place])
    # 42 of 20 places: a buffer that always took the same ones would have seven.
    assert len(taken) > 14


def test_it_begins_with_draws_from_the_models_own_start() -> None:
    """Means of 30,000 bits a pixel within 6 standard errors: false alarm below 1e-7 in all of them."""
    model = machine()
    model.data_mean.copy_(torch.linspace(0.05, 0.95, 8))
    buffer = ReplayBuffer(model, 30_000, 0.0, seed=1)
    buffer.begin((2,))
    assert buffer.states is not None
    mean = model.data_mean
    error = (mean * (1 - mean) / 30_000).sqrt()
    assert ((buffer.states.double().mean(1) - mean).abs() < 6 * error).all()
    assert not torch.equal(buffer.states[0], buffer.states[1])


def test_chains_start_anew_at_the_rate_given_and_in_all_replicas() -> None:
    """The start has no ones and the buffer no zeros: what starts anew shows. 5 standard errors, 1e-6."""
    model = machine()
    model.data_mean.fill_(0.0)
    buffer = ReplayBuffer(model, 500, 0.2, seed=1)
    buffer.begin((3,))
    assert buffer.states is not None
    seen = []
    for iteration in range(40):
        buffer.states.fill_(1)
        theta = buffer.take(250, iteration)
        assert torch.equal(theta, theta[:1, :, :, :1].expand_as(theta))
        seen.append(1.0 - theta[0, 0, :, 0])
    rates = torch.stack(seen)
    assert abs(float(rates.mean()) - 0.2) < 5 * math.sqrt(0.2 * 0.8 / rates.numel())
    assert not torch.equal(rates[0], rates[1])
    never = ReplayBuffer(model, 500, 0.0, seed=1)
    never.begin((3,))
    assert never.states is not None
    never.states.fill_(1)
    assert bool((never.take(250, 0) == 1).all())


def test_without_room_for_its_states_it_is_refused() -> None:
    model = machine()
    model.space = Ordinal(8, 257)  # type: ignore[assignment]
    with pytest.raises(ValueError, match="buffer needs a discrete space of at most 256 levels a coordinate"):
        ReplayBuffer(model, 10, 0.0, 0)


# --- in a training --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
def test_an_iteration_moves_the_chains_that_it_takes_and_no_other(name: str) -> None:
    run = training(KERNELS[name]())
    run.advance(1)
    for iteration in range(1, 8):
        before = held(run).clone()
        run.advance(1)
        keys = Streams([5], f"replay buffer {iteration}").uniform((1, SIZE), (), torch.float64)[0]
        rows = keys.argsort(stable=True)
        kept, moved = rows[CHAINS:], rows[:CHAINS]
        after, state = held(run), run.chains.state
        assert state is not None
        assert torch.equal(after[..., kept, :], before[..., kept, :])
        assert torch.equal(after[..., moved, :].double(), state.theta.squeeze(-3))
        assert not torch.equal(after[..., moved, :], before[..., moved, :])


def test_the_first_iteration_is_that_of_a_loop_written_out() -> None:
    run, model = training(DMALA(0.3), cd_steps=3), machine()
    buffer = ReplayBuffer(model, SIZE, 0.0, 5)
    buffer.begin(())
    kernel, one, streams = DMALA(0.3), torch.ones((), dtype=torch.float64), Streams([5], "training chains")
    state = kernel.init(model, buffer.take(CHAINS, 0), one)
    for _ in range(3):
        state, _ = kernel.step(model, state, one, streams)
    run.advance(1)
    assert torch.equal(run.samples(100), state.theta[0].to(torch.uint8))
    assert run.samples(100).dtype == torch.uint8
    assert torch.equal(run.samples(2), run.samples(100)[:2])
    assert run.evaluations == 4


def test_positions_and_turns_go_on_and_labels_begin_anew() -> None:
    acs = training(KERNELS["acs"]())
    acs.advance(5)
    assert acs.chains.state is not None
    assert int(acs.chains.state.aux["position"]) == 10 % 3
    tempered = training(pt(), cd_steps=1)
    tempered.advance(5)
    assert tempered.chains.state is not None
    aux = tempered.chains.state.aux
    assert int(aux["tempering.turn"]) == 5
    # One step after they began anew, odd pairs or even ones have met, so no label is two rungs away.
    rungs = torch.arange(3).reshape(3, 1, 1)
    assert int((aux["tempering.replica"] - rungs).abs().max()) == 1
    assert torch.equal(aux["tempering.replica"].sort(0).values[:, 0, 0], torch.arange(3))


def test_an_auxiliary_variable_of_a_chain_begins_where_the_chain_is() -> None:
    """EDLP's theta_a is a chain's own: it comes from `init`, not from the chain that stood there before."""
    run = training(EDULA(step_size=1e-9, eta=1.0, auxiliary_step_size=1e-9), cd_steps=1)
    run.advance(4)
    state = run.chains.state
    assert state is not None
    assert torch.allclose(state.aux["theta_a"], state.theta, atol=1e-2)


def test_only_the_cold_replicas_are_the_samples() -> None:
    run = training(pt())
    run.advance(3)
    assert run.chains.state is not None
    assert torch.equal(run.samples(100).double(), run.chains.state.theta[0, 0])
    assert held(run).shape == (3, SIZE, 8)


def test_another_ladder_takes_over_the_places_nearest_by_rank() -> None:
    run = training(pt("auto", 0.3), iterations=4)
    run.chains._take({"ladder": [1.0, 0.5], "step_size": 0.3})
    run.chains.replay(CHAINS, 1, 0)
    before = held(run).clone()
    run.chains._take({"ladder": [1.0, 0.7, 0.5, 0.2], "step_size": 0.3})
    assert torch.equal(held(run), before[[0, 0, 1, 1]])
    run.chains.replay(CHAINS, 1, 1)
    assert held(run).shape == (4, SIZE, 8)


@pytest.mark.parametrize("name", ["acs", "pt"])
def test_what_is_tuned_on_the_way_is_tuned_with_a_buffer(name: str, tmp_path: Path) -> None:
    kernel = tunable(ACS, cycle_length=4) if name == "acs" else pt("auto", 0.3)
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
    assert all(
        torch.equal(a, b) for a, b in zip(again.target.parameters(), run.target.parameters(), strict=True)
    )


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


@pytest.mark.parametrize("name", KERNELS)
def test_taking_and_putting_wait_for_no_device(name: str) -> None:
    run = training(KERNELS[name](), reinitialisation=0.1)
    run.advance(1)
    with NoHostSync():
        run.chains.replay(CHAINS, 2, 1)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"buffer": 6}, "buffer must be at least the number of chains, 7, 6 was given"),
        ({"buffer": 0}, "buffer must be null or a whole number of at least 1, 0 was given"),
        ({"buffer": 20.5}, "buffer must be null or a whole number of at least 1, 20.5 was given"),
        ({"method": "cd"}, "buffer must be null with method=cd, whose chains start from the data, 20 was"),
        ({"reinitialisation": 1.5}, "reinitialisation must be a number from 0 to 1, 1.5 was given"),
        ({"reinitialisation": 0.1, "buffer": None}, "reinitialisation must be 0 without a buffer, 0.1 was"),
        ({"warm_up": -1}, "warm_up must be a whole number of at least 0, -1 was given"),
        ({"warm_up": 0.5}, "warm_up must be a whole number of at least 0, 0.5 was given"),
        ({"gradient_penalty": -1.0}, "gradient_penalty must be a number of at least 0, -1.0 was given"),
        ({"energy_penalty": math.inf}, "energy_penalty must be a number of at least 0, inf was given"),
        ({"validate_every": 0}, "validate_every must be null or a whole number of at least 1, 0 was given"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        training(DMALA(0.3), **changed)
    assert "\n" not in str(raised.value)
