"""The order in which training images are seen: known from the number of the iteration alone."""

from __future__ import annotations

import torch
from torch import Tensor

from targets.randomness import Streams


class Batches:
    """Batches of `size` images; every epoch has an order of its own and drops what is left of it.

    Args:
        data: ``(images, *event_shape)``, on the device where the batches are wanted.
        size: images of a batch.
        seed: of the orders.
        dtype: of the batches.
    """

    def __init__(self, data: Tensor, size: int, seed: int, dtype: torch.dtype) -> None:
        self.data, self.size, self.seed, self.dtype = data, size, seed, dtype
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.int64)

    def at(self, iteration: int) -> Tensor:
        """The batch of the given iteration, counted from 0: ``(size, *event_shape)``."""
        epoch, place = divmod(iteration, len(self.data) // self.size)
        if epoch != self._epoch:
            stream = Streams([self.seed], f"training order {epoch}")
            draws = stream.uniform((1, len(self.data)), (), torch.float64)
            self._epoch, self._order = epoch, draws[0].argsort(stable=True).to(self.data.device)
        rows = self._order[place * self.size : (place + 1) * self.size]
        return self.data[rows].to(self.dtype)
