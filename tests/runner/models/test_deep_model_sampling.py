"""A deep energy-based model from its recipe to draws: trained once, kept, sampled, and not made truth of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from runner.models.model_files import load_model, save_model
from runner.models.training import Training, TrainingImages, TrainingSettings
from runner.tools.bench.baselines.plain_deep import PlainNetwork
from samplers.discrete.dmala import DMALA
from samplers.tempering.parallel_tempering import ParallelTempering
from targets.models.rbm import RBM
from targets.models.resnet_ebm import ResNetEBM
from tests.support.commands import Call

MODEL = (
    *("scale=smoke", "target=resnet_ebm", "target.dataset=digits", "target.width=3", "target.blocks=2"),
    *("target.training.iterations=3", "target.training.cd_steps=1", "target.training.batch=20"),
    *("target.training.chains=20", "dtype=float64"),
)
RUN = (*MODEL, "sampler=dmala", "sampler.step_size=0.15", "task.steps=20", "task.chains=4")


def one(pattern: str) -> Path:
    """The only file that fits."""
    (path,) = Path("outputs").glob(pattern)
    return path


def test_a_model_is_trained_once_kept_and_sampled(call: Call) -> None:
    assert call(*RUN, "metric=[acceptance,jump,ess]", "seed=[0,1]").status == 0
    path = one("models/*/model.safetensors")
    before = path.read_bytes()
    model, metadata = load_model(path)
    assert isinstance(model, ResNetEBM)
    assert (model.shape, model.options.width, model.options.blocks) == ((8, 8), 3, 2)
    assert metadata["dataset"] == "digits"
    ended = call(*RUN, "metric=[acceptance,jump,ess]", "task.steps=30")
    assert ended.status == 0
    assert path.read_bytes() == before
    assert not list(Path("outputs").glob("models/*/ground_truth*"))
    summaries = [json.loads(each.read_text()) for each in Path("outputs").glob("runs/*/summary.json")]
    assert {summary["model"] for summary in summaries} == {str(path)}
    assert {summary["target"] for summary in summaries} == {"resnet_ebm/digits"}


def test_every_standard_metric_that_needs_no_truth_is_measured(call: Call) -> None:
    assert call(*RUN, "metric=[standard]").status == 0
    values = json.loads(one("runs/*/summary.json").read_text())["metrics"]
    assert {"acceptance", "jump", "ess", "rhat"} <= set(values)
    assert not {"log_mmd", "kl", "tv"} & set(values)


def test_a_saved_model_takes_the_place_of_a_trained_one(call: Call) -> None:
    target = ResNetEBM(64, torch.full((64,), 0.2), seed=5, width=2, blocks=1, halvings=1)
    save_model(Path("deep.safetensors"), target, {"dataset": "digits"})
    assert call(*RUN, "metric=[jump]", "target.model=deep.safetensors").status == 0
    assert json.loads(one("runs/*/summary.json").read_text())["model"] == "deep.safetensors"
    assert not list(Path("outputs").glob("models/*"))


REFUSED = [
    ("metric=[log_mmd]", "log_mmd needs a binary target with reference draws; ResNetEBM has none."),
    ("task.start=one_mode", "task.start=one_mode needs a target with known modes, ResNetEBM has none."),
    ("target.width=0", "target.width must be a whole number of at least 1, 0 was given."),
    ("target.halvings=3", "target.halvings must be at most blocks=2, 3 was given."),
    ("target.precision=half", "target.precision must be float32 or bfloat16, 'half' was given."),
    ("target.compile=3", "target.compile must be true or false, 3 was given."),
    ("+target.shape=[28,28]", "Unknown key 'target.shape'."),
]


@pytest.mark.parametrize(("override", "sentence"), REFUSED)
def test_what_cannot_be_sampled_is_refused_before_any_work(call: Call, override: str, sentence: str) -> None:
    ended = call(*RUN, override)
    assert ended.status == 2
    assert sentence in ended.err
    assert "Traceback" not in ended.err
    assert not list(Path("outputs").glob("models/*"))


@pytest.mark.parametrize("group", ["rbm", "resnet_ebm"])
def test_a_model_of_another_architecture_is_refused(call: Call, group: str) -> None:
    made = RBM(64, 3) if group == "resnet_ebm" else ResNetEBM(64, width=2, blocks=1, halvings=1)
    save_model(Path("model.safetensors"), made, {"dataset": "digits"})
    ended = call("scale=smoke", f"target={group}", "sampler=dula", "target.model=model.safetensors")
    assert ended.status == 2
    own = {"rbm": "targets.models.rbm.RBM", "resnet_ebm": "targets.models.resnet_ebm.ResNetEBM"}[group]
    said = f"target.model=model.safetensors must be a model of {own}, a {type(made).__name__} was given."
    assert said in ended.err


def images(pixels: int = 12, rows: int = 40) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    half = torch.arange(pixels) < pixels // 2
    flips = torch.rand((rows, pixels), generator=generator) < 0.1
    return ((torch.arange(rows).unsqueeze(-1) % 2).bool() ^ half ^ flips).to(torch.uint8)


@pytest.mark.parametrize("tempered", [False, True])
def test_an_iteration_moves_every_parameter_as_adam_on_the_plain_gradient_does(tempered: bool) -> None:
    data = images()
    kernel = ParallelTempering(DMALA(1.0), ladder=[1.0, 0.5], step_size=0.3) if tempered else DMALA(0.3)
    settings = TrainingSettings(method="cd", cd_steps=2, iterations=1, batch=40, learning_rate=0.01)
    target = ResNetEBM(12, data.double().mean(0), seed=1, shape=(3, 4), width=3, blocks=2, halvings=1)
    before = {name: tensor.clone() for name, tensor in target.named_parameters()}
    mean = target.data_mean.clone()
    drawn: list[torch.Tensor] = []
    training = Training(target, kernel, TrainingImages(data), settings, seed=2)
    draws = training.chains.kernel.draws
    training.chains.kernel.draws = lambda state: drawn.append(draws(state)) or drawn[-1]  # type: ignore[func-returns-value,method-assign]
    training.advance(1)
    plain = ResNetEBM(12, data.double().mean(0), seed=1, shape=(3, 4), width=3, blocks=2, halvings=1)
    loss = plain.log_prob(drawn[0].flatten(0, -2)).mean() - plain.log_prob(data.double()).mean()
    loss.backward()
    for name, parameter in plain.named_parameters():
        assert parameter.grad is not None
        # Adam's first step is the learning rate down the sign of the gradient, but for its 1e-8.
        step = 0.01 * parameter.grad / (parameter.grad.abs() + 1e-8)
        found = target.get_parameter(name).detach()
        torch.testing.assert_close(found, before[name] - step, rtol=1e-6, atol=1e-8, msg=name)
    assert torch.equal(target.data_mean, mean)
    assert not any(parameter.requires_grad for parameter in target.parameters())


def test_learning_stopped_and_continued_ends_with_the_same_bits(tmp_path: Path) -> None:
    data = images()
    settings = TrainingSettings(method="pcd", cd_steps=2, iterations=6, batch=10, chains=10, averaging=0.9)

    def fresh() -> Training:
        target = ResNetEBM(12, data.double().mean(0), seed=1, shape=(3, 4), width=3, blocks=2, halvings=1)
        return Training(target.float(), DMALA(0.3), TrainingImages(data), settings, seed=2)

    straight, first, second = fresh(), fresh(), fresh()
    straight.advance(6)
    first.advance(2)
    torch.save(first.state_dict(), tmp_path / "checkpoint.pt")
    second.load_state_dict(torch.load(tmp_path / "checkpoint.pt"))
    second.advance(4)
    for name, tensor in straight.target.state_dict().items():
        assert torch.equal(tensor, second.target.state_dict()[name]), name


def test_the_script_beside_which_learning_is_timed_has_the_same_energy() -> None:
    target = ResNetEBM(784, torch.linspace(0.0, 1.0, 784), seed=1, width=3, blocks=3).requires_grad_(False)
    network = PlainNetwork(3, 3, target.data_mean).double()
    network.load_state_dict({**target.network.state_dict(), "mean": target.data_mean})
    theta = target.initial((5,), torch.Generator().manual_seed(0))
    torch.testing.assert_close(network(theta).detach(), target.log_prob(theta), rtol=1e-12, atol=1e-9)
