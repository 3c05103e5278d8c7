"""The architectures whose models can be learned and saved, and how a file's weights show which one it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from runner.execution.errors import listed
from targets.datasets.dataset import Dataset
from targets.models.rbm import RBM
from targets.models.resnet_ebm import ResNetEBM
from targets.target import Target

RESNET_ENDS = ("data_mean", "network.first.weight", "network.last.weight")
"""Tensors that a ResNetEBM of any size has."""


@dataclass(frozen=True)
class Architecture:
    """What must be known of a class of models to learn them, write them and read them.

    Attributes:
        model: the class. Its constructor takes n_visible, mean and seed, and its `data_mean` is a buffer.
        sizes: the constructor's arguments that the shapes of its weights say, by argument; raises ValueError
            where they are the weights of something else, its sentence goes on from "The model file ...".
        settings: of a model, the constructor's other arguments, which its file holds.
        setting_names: their names.
        of_data: arguments that the data set decides, besides n_visible and mean.
    """

    model: type[Target]
    sizes: Callable[[Mapping[str, Tensor]], dict[str, int]]
    settings: Callable[[Any], dict[str, Any]] = lambda _: {}
    setting_names: tuple[str, ...] = ()
    of_data: Callable[[Dataset], dict[str, Any]] = lambda _: {}

    def arguments(self, model: Target) -> dict[str, Any]:
        """The constructor's arguments of `model` that its file holds, fit for JSON."""
        return {**self.sizes(model.state_dict()), **self.settings(model)}


def _rbm_sizes(weights: Mapping[str, Tensor]) -> dict[str, int]:
    expected = set(RBM(1, 1).state_dict())
    if set(weights) != expected:
        raise ValueError(
            f"holds another architecture: an RBM has the tensors {listed(expected)}, "
            f"it has {listed(list(weights)[:8])}"
        )
    weight = weights["weight"]
    if weight.dim() != 2 or 0 in weight.shape:
        raise ValueError(
            f"has weights of the shape {tuple(weight.shape)}; an RBM's are (n_hidden, n_visible)"
        )
    return {"n_visible": weight.shape[1], "n_hidden": weight.shape[0]}


def _resnet_sizes(weights: Mapping[str, Tensor]) -> dict[str, int]:
    if not set(RESNET_ENDS) <= set(weights):
        raise ValueError(
            f"holds another architecture: a ResNetEBM has the tensors {listed(RESNET_ENDS)} and others, "
            f"it has {listed(list(weights)[:8])}"
        )
    first, mean = weights["network.first.weight"], weights["data_mean"]
    if first.dim() != 4 or first.shape[1:] != (1, 3, 3) or not len(first):
        raise ValueError(
            f"has first convolutions of the shape {tuple(first.shape)}; a ResNetEBM's are (width, 1, 3, 3)"
        )
    if mean.dim() != 1 or not len(mean):
        raise ValueError(
            f"has data_mean of the shape {tuple(mean.shape)}; with a ResNetEBM it is (n_visible,)"
        )
    found = [re.fullmatch(r"network\.blocks\.\d+\.(first|shortcut)\.weight", name) for name in weights]
    parts = [match[1] for match in found if match]
    return {
        "n_visible": len(mean),
        "width": len(first),
        "blocks": parts.count("first"),
        "halvings": parts.count("shortcut"),
    }


def _resnet_settings(model: ResNetEBM) -> dict[str, Any]:
    options = model.options
    return {"shape": list(model.shape), "precision": options.precision, "compile": options.compile}


ARCHITECTURES = {
    "rbm": Architecture(RBM, _rbm_sizes),
    "resnet_ebm": Architecture(
        ResNetEBM,
        _resnet_sizes,
        _resnet_settings,
        setting_names=("shape", "precision", "compile"),
        of_data=lambda data: {"shape": list(data.shape)},
    ),
}
"""By the name in a model file."""


def architecture_of(model: object) -> str | None:
    """The name of the architecture of a model, or of the class of one; None where it cannot be saved."""
    cls = model if isinstance(model, type) else type(model)
    return next((name for name, each in ARCHITECTURES.items() if each.model is cls), None)


def likely_architecture(weights: Mapping[str, Tensor]) -> str:
    """The name of the architecture that weights without metadata are tried as."""
    return "resnet_ebm" if any(name.startswith("network.") for name in weights) else "rbm"
