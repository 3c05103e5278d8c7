"""From the named tensors of a file to a model; tensors that are not those of one valid model are refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from runner.execution.errors import UserError, listed, one_sentence
from runner.models.architectures import architecture, remember_arguments
from targets.target import Target

DTYPES = (torch.float32, torch.float64)


def model_of_weights(path: Path, weights: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> Target:
    """The model with these weights.

    Raises:
        UserError: if they are not the tensors of one model, all of one floating-point dtype, and finite.
    """
    name = metadata["architecture"] if metadata else _likely_architecture(weights)
    try:
        own = architecture(name, "architecture")
        sizes = own.sizes(weights)
    except UserError as error:
        raise UserError(f"The model file {path} cannot be read: {error}") from error
    except ValueError as error:
        raise UserError(f"The model file {path} {one_sentence(error)}.") from error
    for key, size in sizes.items():
        if metadata and metadata.get(key) != size:
            raise UserError(f"The model file {path} says {key}={metadata.get(key)}, its weights have {size}.")
    dtypes = {tensor.dtype for tensor in weights.values()}
    if len(dtypes) > 1 or not dtypes <= set(DTYPES):
        raise UserError(
            f"The model file {path} has tensors of {listed(str(d).removeprefix('torch.') for d in dtypes)}; "
            "all must be float32, or all float64."
        )
    try:
        arguments = {**sizes, **own.restored(metadata)}
        model: Target = own.model(**arguments).to(dtype=next(iter(dtypes)))
    except Exception as error:
        raise UserError(f"The model file {path} describes no {name}: {one_sentence(error)}.") from error
    _check_tensors(path, weights, model.state_dict(), name, arguments)
    model.load_state_dict(dict(weights))
    remember_arguments(model, arguments)
    return model


def _likely_architecture(weights: Mapping[str, Tensor]) -> str:
    """What weights without metadata are tried as."""
    return "resnet_ebm" if any(name.startswith("network.") for name in weights) else "rbm"


def _check_tensors(
    path: Path,
    weights: Mapping[str, Tensor],
    expected: Mapping[str, Tensor],
    name: str,
    arguments: Mapping[str, Any],
) -> None:
    """Refuses tensors that are not those of the model `name` with these arguments, or are not finite."""
    for what, others in (("lacks", set(expected) - set(weights)), ("also has", set(weights) - set(expected))):
        if others:
            raise UserError(
                f"The model file {path} is no whole {name} but another architecture: it {what} "
                f"{listed(sorted(others)[:8])}."
            )
    for key, tensor in expected.items():
        if weights[key].shape != tensor.shape:
            raise UserError(
                f"The model file {path} has {key} of the shape {tuple(weights[key].shape)}; with "
                f"{' '.join(f'{argument}={value}' for argument, value in arguments.items())} it must be "
                f"{tuple(tensor.shape)}."
            )
        if not bool(weights[key].isfinite().all()):
            raise UserError(f"The model file {path} has {key} with NaN or infinity in it.")
    mean = weights.get("data_mean")
    if mean is not None and not bool(((mean > 0) & (mean < 1)).all()):
        raise UserError(f"The model file {path} has a data_mean that is not between 0 and 1.")
