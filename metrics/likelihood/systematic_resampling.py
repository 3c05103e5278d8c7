"""Systematic resampling: which members of a population are copied, in proportion to their weights."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.randomness import Generator, uniform


def systematic(log_weights: Tensor, generator: Generator) -> Tensor:
    """The member that takes each place, ``(*batch, chains)``, int64, in rising order.

    One uniform number u a population: place i gets the member whose share of the cumulated weights holds
    (i + u) / n. A member of normalised weight w has n w copies on average, floor(n w) or ceil(n w) of them
    (Douc, Cappe and Moulines 2005).

    Args:
        log_weights: of each member ``(*batch, chains)``, finite; not normalised.
    """
    n = log_weights.shape[-1]
    cumulative = log_weights.softmax(-1).cumsum(-1)
    cumulative = cumulative / cumulative[..., -1:]
    start = uniform(generator, (*log_weights.shape[:-1], 1), like=log_weights)
    places = (torch.arange(n, dtype=log_weights.dtype, device=log_weights.device) + start) / n
    return torch.searchsorted(cumulative, places.contiguous(), right=True).clamp_(max=n - 1)
