"""What must be known of a class of models to learn, write and read them: of ours and of the user's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from runner.config.construct import locate
from runner.execution.errors import UserError, listed
from targets import RBM, Dataset, ResNetEBM, Target

RESNET_SETTINGS = ("shape", "precision", "compile")
"""Arguments of a ResNetEBM that its weights do not say."""

RESNET_ENDS = ("data_mean", "network.first.weight", "network.last.weight")
"""Tensors that a ResNetEBM of any size has."""


@dataclass(frozen=True)
class Architecture:
    """A class of models.

    Attributes:
        model: the class. Its constructor takes n_visible, mean and seed, the latter two with defaults.
        sizes: the constructor's arguments that the shapes of its weights say, by argument; raises ValueError
            where they are the weights of something else, its sentence goes on from "The model file ...".
        settings: of a model, what else its file holds: the constructor's other arguments.
        restored: the constructor's other arguments, from the metadata of a file.
        of_data: arguments that the data set decides, besides n_visible and mean.
    """

    model: type[Target]
    sizes: Callable[[Mapping[str, Tensor]], dict[str, int]]
    settings: Callable[[Any], dict[str, Any]] = lambda _: {}
    restored: Callable[[Mapping[str, Any]], dict[str, Any]] = lambda _: {}
    of_data: Callable[[Dataset], dict[str, Any]] = lambda _: {}

    def arguments(self, model: Target) -> dict[str, Any]:
        """What the file of `model` holds to build it, fit for JSON."""
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
        settings=_resnet_settings,
        restored=lambda metadata: {key: metadata[key] for key in RESNET_SETTINGS if key in metadata},
        of_data=lambda data: {"shape": list(data.shape)},
    ),
}
"""Ours, by the name in a model file."""


def architecture_name(model: type) -> str:
    """The name of a class of models in their files: ours have short ones, others their import path."""
    path = f"{model.__module__}.{model.__qualname__}"
    return next((name for name, each in ARCHITECTURES.items() if each.model is model), path)


def architecture(name: str, key: str) -> Architecture:
    """The architecture `name`: one of ours, or a class of models by its import path.

    The file of a model of another class than ours holds the arguments that `remember_arguments` was given.

    Raises:
        UserError: if it cannot be imported or is no `Target`; `key` is what the user set.
    """
    if name in ARCHITECTURES:
        return ARCHITECTURES[name]
    cls = locate(name, key)
    if not isinstance(cls, type) or not issubclass(cls, Target):
        raise UserError(f"{key}={name} is no targets.target.Target.")
    return Architecture(
        cls,
        sizes=lambda _: {},
        settings=lambda model: {"arguments": _remembered(model)},
        restored=lambda metadata: dict(metadata["arguments"]),
    )


def constructor_arguments(model: Target) -> dict[str, Any]:
    """The arguments of its constructor with which a model that was loaded is built again."""
    found = architecture(architecture_name(type(model)), "_target_").arguments(model)
    return dict(found.get("arguments", found))


def remember_arguments(model: Target, arguments: Mapping[str, Any]) -> None:
    """Notes on a model the arguments of its constructor, those that its weights say left out."""
    vars(model)["constructor_arguments"] = {
        key: value for key, value in arguments.items() if key not in ("_target_", "name", "mean", "seed")
    }


def _remembered(model: Target) -> dict[str, Any]:
    """What `remember_arguments` noted; plain values, since a file must not say what to construct."""
    arguments: dict[str, Any] | None = vars(model).get("constructor_arguments")
    if arguments is None:
        raise UserError(
            f"A {type(model).__name__} cannot be saved: only {listed(ARCHITECTURES)} can, and models of "
            "other classes that target._target_ has built."
        )
    for key, value in arguments.items():
        if isinstance(value, Mapping) and "_target_" in value:
            name = type(model).__name__
            raise UserError(f"A {name} cannot be saved: its argument {key} is an object, no plain value.")
    return arguments
