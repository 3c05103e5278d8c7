"""Distinct places, drawn one after the other in proportion to the weights of those that are left."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from targets.randomness import Generator, uniform


class ColumnWeights:
    """Places in columns of equal length, with the log total weight of each column.

    Args:
        log_weights: ``(*batch, n)``; -inf where there is no weight.
        rows: places in a column, a divisor of n.
        totals: of the columns, ``(*batch, n / rows)``, where they are known already.

    Attributes:
        totals: likewise.
    """

    def __init__(self, log_weights: Tensor, rows: int, totals: Tensor | None = None) -> None:
        self.rows = rows
        columns = log_weights.shape[-1] // rows
        self.table: Tensor = log_weights.reshape(*log_weights.shape[:-1], rows, columns)
        if totals is None:
            totals = log_weights if rows == 1 else self.table.logsumexp(-2)
        self.totals = totals

    def of(self, columns: Tensor) -> Tensor:
        """log weights of the places of `columns` ``(*batch, m)``: ``(*batch, rows, m)``."""
        return self.table.gather(-1, columns.unsqueeze(-2).expand(*columns.shape[:-1], self.rows, -1))


class DistinctPlaces:
    """The first `number` of many places, where each comes after an exponential time with its weight as rate.

    Many places are arranged in columns. The first time of a column is exponential, too, with its total weight
    as rate; the places sought are in the `number` columns whose first times are the smallest. Exponential
    times have no memory: after its first time a column goes on as fresh times of its places do after the
    smallest of them. So most places need neither a random number nor a logarithm, and the law is that of one
    time for each place.

    Source: Efraimidis and Spirakis (2006) for the exponential times.

    Args:
        weights: of the places, in columns of `rows_of` places.
        number: how many are sought, from 1 to n.

    Attributes:
        places: those drawn, in their order, ``(*batch, number)``, int64.
    """

    def __init__(self, weights: ColumnWeights, number: int, generator: Generator) -> None:
        totals, rows = weights.totals, weights.rows
        batch, length = totals.shape[:-1], totals.shape[-1]
        times = _log_times(totals, batch, (length,), generator)
        first = times.topk(number, dim=-1, largest=False, sorted=rows == 1)
        self.rows, self._columns = rows, first.indices
        self.places = first.indices
        if rows == 1:
            return
        self._weights, self._few = weights, weights.of(self._columns)
        own = _log_times(self._few, batch, (rows, number), generator)
        later = _log_sum(first.values.unsqueeze(-2), _log_difference(own, own.amin(-2, keepdim=True)))
        self._chosen = later.flatten(-2).topk(number, dim=-1, largest=False).indices
        row = torch.div(self._chosen, number, rounding_mode="floor")
        self.places = row * length + self._columns.gather(-1, self._chosen % number)

    def log_others(self, weights: ColumnWeights, taken: Tensor) -> Tensor:
        """log total weight of all places but those `taken` of `places`, ``(*batch, 1)``.

        Args:
            weights: those of the draw, or others of as many places in the same columns.
            taken: ``(*batch, number)``, bool.
        """
        if self.rows == 1:
            return log_others(weights.totals, self.places, taken)
        columns = weights.totals.scatter(-1, self._columns, -torch.inf).logsumexp(-1, keepdim=True)
        few = self._few if weights is self._weights else weights.of(self._columns)
        left = log_others(few.flatten(-2), self._chosen, taken)
        # Not logaddexp, whose rounding depends on the rest of the batch.
        return torch.cat([columns, left], -1).logsumexp(-1, keepdim=True)


def log_others(log_weights: Tensor, places: Tensor, taken: Tensor) -> Tensor:
    """log total weight of all but those `taken` of `places`, which are distinct, ``(*batch, 1)``."""
    kept = torch.where(taken, -torch.inf, log_weights.gather(-1, places))
    return log_weights.scatter(-1, places, kept).logsumexp(-1, keepdim=True)


def rows_of(n: int, number: int) -> int:
    """Places in a column: a divisor of `n` that leaves few columns, and few places in `number` of them."""
    most = max(1, math.isqrt(n // (2 * number)))
    return max(rows for rows in range(1, most + 1) if n % rows == 0)


def _log_times(log_rates: Tensor, batch: torch.Size, event: tuple[int, ...], generator: Generator) -> Tensor:
    """Logarithms of exponential times, like `log_rates`; infinite where there is no rate, and only there."""
    draws = uniform(generator, batch, event, like=log_rates)
    return draws.clamp_(min=torch.finfo(draws.dtype).tiny).log_().neg_().log_().sub_(log_rates)


def _log_difference(larger: Tensor, smaller: Tensor) -> Tensor:
    """log(e^larger - e^smaller); -inf where they are the same, also at infinity."""
    difference = larger + (1.0 - (smaller - larger).exp()).log()
    return torch.where(larger == smaller, -torch.inf, difference)


def _log_sum(a: Tensor, b: Tensor) -> Tensor:
    """log(e^a + e^b), and a itself where e^b is 0. Not by `logaddexp`, see `DistinctPlaces.log_others`."""
    return torch.where(b.isneginf(), a, torch.maximum(a, b) + (1.0 + (a - b).abs().neg().exp()).log())
