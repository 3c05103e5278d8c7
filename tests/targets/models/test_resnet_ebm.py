"""The deep energy-based model against its layers one by one."""

from __future__ import annotations

import copy
import inspect
import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import conv2d

from targets import ResNetEBM, Streams
from targets.models import resnet_ebm
from targets.models.residual_network import NetworkOptions
from tests.support.error_message import error_message
from tests.support.steps.no_host_sync import NoHostSync

SIZES: dict[str, dict[str, Any]] = {
    "8 x 8": {"n_visible": 64, "width": 4, "blocks": 3, "halvings": 2},
    "4 x 6": {"n_visible": 24, "shape": (4, 6), "width": 3, "blocks": 1, "halvings": 1},
    "2 x 2": {"n_visible": 4, "width": 2, "blocks": 2, "halvings": 2},
    "3 x 4": {"n_visible": 12, "shape": (3, 4), "width": 3, "blocks": 2, "halvings": 1},
    "1 x 5, no halving": {"n_visible": 5, "shape": [1, 5], "width": 2, "blocks": 1, "halvings": 0},
    "3 x 3, halved away": {"n_visible": 9, "width": 2, "blocks": 4, "halvings": 4},
    "no block": {"n_visible": 4, "width": 3, "blocks": 0, "halvings": 0},
}
MODELS = pytest.mark.parametrize("size", SIZES)


def model(size: str = "3 x 4", seed: int = 1, scale: float = 3.0, **changed: Any) -> ResNetEBM:
    """A model in float64 whose weights are large enough to matter, and a mean with a 0 and a 1 in it."""
    options = {**SIZES[size], **changed}
    mean = torch.linspace(0.0, 1.0, options["n_visible"], dtype=torch.float64)
    made = ResNetEBM(mean=mean, seed=seed, **options).requires_grad_(False)
    for parameter in made.parameters():
        parameter.mul_(scale)
    return made


def states(target: ResNetEBM, *batch: int, seed: int = 0) -> Tensor:
    return target.initial(batch, torch.Generator().manual_seed(seed)).to(target.data_mean)


def by_layers(target: ResNetEBM, theta: Tensor) -> Tensor:
    """U of states ``(number, n_visible)`` by settings D.1, layer by layer."""
    weights = {name.removeprefix("network."): value for name, value in target.named_parameters()}

    def convolved(maps: Tensor, name: str, stride: int = 1) -> Tensor:
        kernel = weights[f"{name}.weight"]
        return conv2d(maps, kernel, weights[f"{name}.bias"], stride, kernel.shape[-1] // 2)

    def swish(maps: Tensor) -> Tensor:
        return maps / (1.0 + (-maps).exp())

    maps = convolved(theta.reshape(-1, 1, *target.shape), "first")
    for place in range(target.options.blocks):
        name, stride = f"blocks.{place}", 2 if place < target.options.halvings else 1
        inner = convolved(swish(convolved(maps, f"{name}.first", stride)), f"{name}.second")
        maps = swish(inner + (convolved(maps, f"{name}.shortcut", stride) if stride == 2 else maps))
    output = maps.mean((-2, -1)) @ weights["last.weight"][0] + weights["last.bias"]
    mean = target.data_mean
    return output + (theta * mean.log() + (1.0 - theta) * (1.0 - mean).log()).sum(-1)


@MODELS
def test_values_and_gradients_are_those_of_the_layers_one_by_one(size: str) -> None:
    target = model(size).requires_grad_(True)
    theta = states(target, 3)
    theta = torch.cat([theta, 1.0 - theta])  # so that every pixel is 0 somewhere and 1 somewhere
    assert (theta.mean(0) == 0.5).all()
    parameters = list(target.parameters())
    leaf = theta.clone().requires_grad_(True)
    expected = by_layers(target, leaf)
    slope, *slopes = torch.autograd.grad(expected.sum(), [leaf, *parameters])
    value = target.log_prob(theta)
    learned = torch.autograd.grad(value.sum(), parameters)
    torch.testing.assert_close(learned, tuple(slopes), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(value, expected, rtol=1e-12, atol=1e-10)
    log_prob, grad = target.log_prob_and_grad(theta)
    assert torch.equal(log_prob, value.detach())
    torch.testing.assert_close(grad, slope, rtol=1e-9, atol=1e-9)


def test_the_data_mean_is_shrunk_and_probabilities_are_normalised() -> None:
    target = model()
    mean = torch.linspace(0.0, 1.0, 12, dtype=torch.float64)
    torch.testing.assert_close(target.data_mean, 0.98 * mean + 0.01, rtol=0, atol=1e-15)
    expected = by_layers(target, target.space.states()).softmax(0)
    torch.testing.assert_close(target.probabilities(), expected, rtol=1e-10, atol=1e-15)


def test_any_number_of_batch_axes_gives_the_same_numbers() -> None:
    target = model()
    theta = states(target, 2, 3, 4)
    log_prob, grad = target.log_prob_and_grad(theta)
    assert log_prob.shape == (2, 3, 4)
    assert grad.shape == theta.shape
    for place in ((0, 0, 0), (1, 2, 3)):
        alone, gradient = target.log_prob_and_grad(theta[place])
        assert alone.shape == ()
        torch.testing.assert_close(alone, log_prob[place], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(gradient, grad[place], rtol=1e-12, atol=1e-12)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    target = model()
    theta = states(target, 3, 7)
    whole = (target.log_prob(theta), *target.log_prob_and_grad(theta))
    monkeypatch.setattr(resnet_ebm, "CHUNK", 4 * 12 * 3)
    parts: list[int] = []
    target.network.register_forward_hook(lambda _, given, __: parts.append(len(given[0])))
    cut = (target.log_prob(theta), *target.log_prob_and_grad(theta))
    assert parts == 2 * [4, 4, 4, 4, 4, 1]
    for one, other in zip(whole, cut, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_float32_agrees_with_float64() -> None:
    exact = model("8 x 8")
    target = copy.deepcopy(exact).float()
    theta = states(target, 20)
    found, expected = target.log_prob_and_grad(theta), exact.log_prob_and_grad(theta.double())
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == torch.float32
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-3)


def test_bfloat16_is_used_in_the_convolutions_only() -> None:
    exact = model("8 x 8", scale=1.0).float()
    target = model("8 x 8", scale=1.0, precision="bfloat16").float()
    seen: list[torch.dtype] = []
    target.network.blocks[1].register_forward_hook(lambda _, __, maps: seen.append(maps.dtype))
    theta = states(target, 20)
    log_prob, grad = target.log_prob_and_grad(theta)
    assert set(seen) == {torch.bfloat16}
    assert log_prob.dtype == grad.dtype == torch.float32
    expected, gradient = exact.log_prob_and_grad(theta)
    # Its 8 bits are lost in the network's part of U, which is below 1 here, not in the base term's -30.
    torch.testing.assert_close(log_prob, expected, rtol=0, atol=0.02)
    torch.testing.assert_close(grad, gradient, rtol=0, atol=0.02)
    assert not torch.equal(log_prob, expected)


def test_an_evaluation_neither_synchronises_with_the_host_nor_differentiates_the_parameters() -> None:
    target = model("8 x 8").requires_grad_(True)
    theta = states(target, 1, 5)
    with NoHostSync():
        target.log_prob(theta)
        found = target.log_prob_and_grad(theta)
        target.initial((1, 5), Streams([0], "start"))
    assert not any(each.requires_grad for each in found)
    assert all(parameter.grad is None for parameter in target.parameters())


def test_weights_depend_on_their_seed_alone_and_have_the_papers_number() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    one = ResNetEBM(64, width=4, blocks=2, seed=3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(1)
    again, other = ResNetEBM(64, width=4, blocks=2, seed=3), ResNetEBM(64, width=4, blocks=2, seed=4)
    for name, tensor in one.network.state_dict().items():
        assert torch.equal(tensor, again.network.state_dict()[name])
        assert not torch.equal(tensor, other.network.state_dict()[name])
        inputs = one.network.state_dict()[name.replace("bias", "weight")][0].numel()
        assert float(tensor.abs().max()) <= inputs**-0.5
    paper = ResNetEBM(784, seed=0)
    assert sum(parameter.numel() for parameter in paper.parameters()) == 599_873
    assert paper.shape == (28, 28)
    wide = paper.network.state_dict()["blocks.5.first.weight"]
    # 36,864 uniform numbers: their root mean square is within 6 standard deviations, false alarm 1e-8.
    assert float(wide.square().mean()) * 3 * 576 == pytest.approx(1.0, abs=6 * math.sqrt(0.8 / 36_864))


def test_initial_states_have_the_mean_of_the_base_term() -> None:
    """Each of 12 means of 100,000 bits within Hoeffding's band; false alarm 1e-6."""
    target, draws = model(), 100_000
    theta = states(target, draws, seed=5)
    assert target.space.contains(theta).all()
    band = math.sqrt(math.log(2 * 12 / 1e-6) / (2 * draws))
    assert (theta.mean(0) - target.data_mean).abs().max() <= band


def test_the_network_compiles_as_one_graph_and_its_weights_keep_their_names() -> None:
    """What a CUDA device compiles, traced here by a backend that needs no compiler; never on the CPU."""
    target = model("4 x 6", compile=True)
    theta, names = states(target, 3), list(target.state_dict())
    expected = target.log_prob_and_grad(theta)
    assert target.network._compiled_call_impl is None
    target.network.compile(backend="aot_eager", fullgraph=True)
    for one, other in zip(target.log_prob_and_grad(theta), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
    assert list(target.state_dict()) == names
    assert copy.deepcopy(target).network._compiled_call_impl is None


def test_images_of_another_size_are_refused() -> None:
    said = error_message(ValueError, model().log_prob, torch.zeros(2, 16, dtype=torch.float64))
    assert said == "theta must have 12 pixels, as the network expects, 16 were given"


def test_the_signature_names_all_options() -> None:
    """From it, the runner knows the keys of a configuration."""
    names = list(inspect.signature(ResNetEBM).parameters)
    assert names == [*("n_visible", "mean", "seed", "shape"), *inspect.signature(NetworkOptions).parameters]
