"""From the named tensors of a file to a model; tensors that are not those of one valid model are refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from runner.execution.errors import UserError, listed, one_sentence
from runner.models.architectures import ARCHITECTURES, likely_architecture
from targets.target import Target

DTYPES = (torch.float32, torch.float64)


def built(path: Path, weights: Mapping[str, Tensor], metadata: Mapping[str, Any]) -> Target:
    """The model with these weights.

    Raises:
        UserError: if they are not the tensors of one model, all of one floating-point dtype, and finite.
    """
    name = metadata["architecture"] if metadata else likely_architecture(weights)
    architecture = ARCHITECTURES[name]
    try:
        sizes = architecture.sizes(weights)
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
    settings = {key: metadata[key] for key in architecture.setting_names if key in metadata}
    try:
        model: Target = architecture.model(**sizes, **settings).to(dtype=next(iter(dtypes)))
    except (ValueError, TypeError) as error:
        raise UserError(f"The model file {path} describes no {name}: {one_sentence(error)}.") from error
    _check_tensors(path, weights, model.state_dict(), name, sizes)
    model.load_state_dict(dict(weights))
    return model


def _check_tensors(
    path: Path,
    weights: Mapping[str, Tensor],
    expected: Mapping[str, Tensor],
    name: str,
    sizes: Mapping[str, int],
) -> None:
    """Refuses tensors that are not those of the model `name` of these sizes, or are not finite."""
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
                f"{' '.join(f'{size}={value}' for size, value in sizes.items())} it must be "
                f"{tuple(tensor.shape)}."
            )
        if not bool(weights[key].isfinite().all()):
            raise UserError(f"The model file {path} has {key} with NaN or infinity in it.")
    mean = weights["data_mean"]
    if not bool(((mean > 0) & (mean < 1)).all()):
        raise UserError(f"The model file {path} has a data_mean that is not between 0 and 1.")
