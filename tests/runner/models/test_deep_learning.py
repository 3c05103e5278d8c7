"""Learning of a small deep model whose states can be listed: its likelihood rises, stopped or not."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from runner.execution.errors import RunError
from runner.files.checkpoint import load_checkpoint, save_checkpoint
from runner.models.training import (
    Training,
    TrainingError,
    TrainingImages,
    TrainingSettings,
    ValidationSettings,
)
from runner.models.training.divergence_check import ENERGY_LIMIT
from samplers import ACS, DMALA, Gibbs, Kernel, ParallelTempering
from targets.models.resnet_ebm import ResNetEBM
from targets.reference_distribution import reference_distribution
from tests.support import training as plain
from tests.support.steps.no_host_sync import NoHostSync
from tests.support.training import assert_same, half_images, halves, log_likelihood, parameters

PIXELS = 12


TRAIN, HELD_OUT = half_images(400, 0), half_images(200, 1)


def network(seed: int = 0) -> ResNetEBM:
    mean = TRAIN.double().mean(0)
    return ResNetEBM(PIXELS, mean, seed=seed, shape=(3, 4), width=4, blocks=2, halvings=1)


KERNELS: dict[str, Callable[[], Kernel]] = {
    "dmala": lambda: DMALA(0.3),
    "acs": lambda: ACS(cycle_length=5, step_size=1.0, min_step_size=0.2, balancing=0.6),
    "pt_dmala": lambda: ParallelTempering(DMALA(1.0), ladder=[1.0, 0.7, 0.4], step_size=0.3),
    "gibbs": lambda: Gibbs("systematic"),
}


def settings(**changed: Any) -> TrainingSettings:
    buffer = {"chains": 50, "buffer": 200, "reinitialisation": 0.02}
    adam = {"learning_rate": 0.01, "warm_up": 10, "averaging": 0.9}
    return plain.settings(**{"cd_steps": 3, "iterations": 100, "batch": 50, **buffer, **adam, **changed})


def training(name: str, how: TrainingSettings, **args: Any) -> Training:
    return Training(network(), KERNELS[name](), TrainingImages(TRAIN, HELD_OUT), how, seed=3, **args)


@pytest.mark.parametrize("name", KERNELS)
def test_the_likelihood_of_held_out_images_rises_above_the_base(name: str) -> None:
    """By half a nat of the 3.7 from the base, -8.3, to the distribution of the images, -4.6."""
    how = settings(cd_steps=12 if name == "gibbs" else 3)
    run = training(name, how)
    base = float(reference_distribution(network()).log_prob(HELD_OUT.double()).mean())
    assert log_likelihood(network(), HELD_OUT) < base + 0.1
    run.advance(how.iterations)
    assert run.finished
    assert log_likelihood(run.target, HELD_OUT) > base + 0.5
    values = run.history.records[-1]["values"]
    assert 0 < values["acceptance"] <= 1
    assert values["learning_rate"] == 0.01
    assert ("swap_rate" in values) == (name == "pt_dmala")
    if name == "pt_dmala":
        assert 0.1 < values["swap_rate"] < 1


@pytest.mark.parametrize("name", KERNELS)
def test_killed_at_ten_random_moments_it_ends_with_the_same_bits(name: str, tmp_path: Path) -> None:
    """With all that a training has on; the moments also fall into walks of validations."""
    how = settings(
        iterations=14, validate_every=5, learning_rate_decay="linear", energy_penalty=1e-3, weight_decay=0.01
    )
    args = {"scoring": ValidationSettings(17, chains=6), "records": 6}
    whole = training(name, how, **args)
    # 14 iterations, and 3 walks of 17 temperatures, three to a unit.
    units = 14 + 3 * 6
    whole.advance(units - 1)
    assert not whole.finished
    whole.advance(1)
    assert whole.finished
    assert [score.iteration for score in whole.selection.scores] == [5, 10, 14]
    stops = sorted(random.Random(name).sample(range(1, units), 10))
    cut, at, mid_walk = training(name, how, **args), 0, 0
    for stop in stops:
        cut.advance(stop - at)
        at, mid_walk = stop, mid_walk + cut.selection.underway
        save_checkpoint(tmp_path / "checkpoint.pt", {"training": cut.state_dict()})
        # What came after the checkpoint is lost.
        cut.advance(2)
        cut = training(name, how, **args)
        cut.load_state_dict(load_checkpoint(tmp_path / "checkpoint.pt")["training"])
    cut.advance(units - at)
    assert mid_walk > 1
    assert cut.finished
    assert_same(cut.state_dict(), whole.state_dict())
    assert cut.selection.scores == whole.selection.scores
    assert cut.selection.best == whole.selection.best
    assert torch.equal(cut.samples(50), whole.samples(50))


@pytest.mark.parametrize("name", KERNELS)
def test_an_iteration_waits_for_no_device(name: str) -> None:
    run = training(name, settings(gradient_penalty=0.1, energy_penalty=0.1))
    run.advance(1)
    with NoHostSync():
        for _ in range(3):
            run._iterate()


# --- warm-up --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decay", "rates"),
    [
        ("none", [0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ("linear", [0.25, 0.5 * 7 / 8, 0.75 * 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8]),
    ],
)
def test_the_learning_rate_rises_and_falls_by_hand(decay: str, rates: list[float]) -> None:
    run = training("dmala", settings(iterations=8, warm_up=4, learning_rate_decay=decay, learning_rate=0.1))
    seen = []
    for _ in range(8):
        run.advance(1)
        seen.append(run.optimiser.adam.param_groups[0]["lr"])
        assert run.history.records[-1]["values"]["learning_rate"] == seen[-1]
    assert seen == pytest.approx([0.1 * rate for rate in rates], abs=1e-15)


def test_a_first_step_of_adam_is_as_long_as_the_warm_up_says() -> None:
    """Adam's first step is the learning rate times the sign of the gradient."""
    run = training("dmala", settings(warm_up=10, averaging=0.0))
    before = parameters(run.target)
    run.advance(1)
    assert float((parameters(run.target) - before).abs().max()) == pytest.approx(0.001, rel=1e-3)


@pytest.mark.parametrize("tempered", [False, True])
def test_an_iteration_moves_every_parameter_as_adam_on_the_plain_gradient_does(tempered: bool) -> None:
    data = halves(40, pixels=12)
    kernel = ParallelTempering(DMALA(1.0), ladder=[1.0, 0.5], step_size=0.3) if tempered else DMALA(0.3)
    how = settings(
        method="cd", buffer=None, reinitialisation=0, iterations=1, batch=40, warm_up=0, averaging=0
    )
    target = network()
    before = {name: tensor.clone() for name, tensor in target.named_parameters()}
    mean = target.data_mean.clone()
    drawn: list[torch.Tensor] = []
    run = Training(target, kernel, TrainingImages(data), how, seed=2)
    draws = run.chains.kernel.draws
    run.chains.kernel.draws = lambda state: drawn.append(draws(state)) or drawn[-1]  # type: ignore[func-returns-value,method-assign]
    run.advance(1)
    twin = network()
    loss = twin.log_prob(drawn[0].flatten(0, -2)).mean() - twin.log_prob(data.double()).mean()
    loss.backward()
    for name, parameter in twin.named_parameters():
        assert parameter.grad is not None
        # Adam's first step is the learning rate down the sign of the gradient, but for its 1e-8.
        step = 0.01 * parameter.grad / (parameter.grad.abs() + 1e-8)
        found = target.get_parameter(name).detach()
        torch.testing.assert_close(found, before[name] - step, rtol=1e-6, atol=1e-8, msg=name)
    assert torch.equal(target.data_mean, mean)
    assert not any(parameter.requires_grad for parameter in target.parameters())


# --- what goes wrong ------------------------------------------------------------------------------------


def test_energies_that_explode_stop_the_training_and_the_good_checkpoint_stays(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.pt"
    run = training("dmala", settings(learning_rate=1e6, warm_up=0))
    run.advance(0, path)
    save_checkpoint(path, {"training": run.state_dict()})
    with pytest.raises(TrainingError, match="the energies have exploded") as raised:
        run.advance(10, path)
    assert isinstance(raised.value, RunError)
    said = str(raised.value)
    assert said.startswith(f"Training stopped at iteration {raised.value.iteration}, where the energies have")
    assert "above 8.38861e+06" in said
    assert said.endswith(f"the last good checkpoint is kept at {path}.")
    assert 1 <= raised.value.iteration <= 10
    again = training("dmala", settings(learning_rate=1e6, warm_up=0))
    again.load_state_dict(load_checkpoint(path)["training"])
    assert torch.equal(parameters(again.target), parameters(network()))


def test_large_energies_below_the_limit_do_not_stop_it() -> None:
    """A constant in U changes no distribution: the network's last bias is one."""
    for size, stops in ((0.9 * ENERGY_LIMIT, False), (1.1 * ENERGY_LIMIT, True)):
        run = training("gibbs", settings(cd_steps=1))
        *_, bias = run.target.parameters()
        assert bias.numel() == 1
        bias.fill_(size)
        if stops:
            with pytest.raises(TrainingError, match="iteration 1, where the energies have exploded"):
                run.advance(1)
        else:
            run.advance(1)
