"""The images of a training, and its batches, determined by the seed and the number of the iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from targets.randomness import Streams


@dataclass(frozen=True, eq=False)
class TrainingImages:
    """The data of a training.

    Attributes:
        train: the training images, ``(images, *event_shape)``, of any dtype.
        validation: held-out images, likewise; None or empty if there are none.
        grey, white: grey values of the training images and the maximum grey value, for dynamic binarisation
            (`Batches`); None for static images.
        shape: height and width of an image, for pictures; None where they are no images.
    """

    train: Tensor
    validation: Tensor | None = None
    grey: Tensor | None = None
    white: int = 255
    shape: tuple[int, int] | None = None

    def check(self, event_shape: Sequence[int], batch: int) -> None:
        """Refuses images of another shape than a model's states, and fewer of them than a batch."""
        if self.train.shape[1:] != tuple(event_shape):
            raise ValueError(
                f"data must have the shape (images, {', '.join(map(str, event_shape))}), "
                f"{tuple(self.train.shape)} was given"
            )
        if batch > len(self.train):
            raise ValueError(
                f"batch must be at most the number of training images, {len(self.train)}, {batch} was given"
            )


class Batches:
    """Batches of `size` images, in a new random order every epoch, without its incomplete last batch.

    With dynamic binarisation, `grey` and `white` are those of `targets.datasets.dataset.Dataset`: each batch
    is drawn as Bernoulli(grey / white) from a stream of (seed, iteration), so that a resumed training gets
    the same batches. Without `grey`, the batches are rows of `data`:

        Batches(data.train, size, seed, dtype, data.grey, data.white)

    Args:
        data: ``(images, *event_shape)``, on the device of the batches.
        size: number of images of a batch.
        seed: of the orders and of the draws.
        dtype: of the batches.
        grey: ``(images, *event_shape)``, grey values of the same images from 0 to `white`; None for static
            images.
        white: the maximum grey value, which is always drawn as 1.

    Raises:
        ValueError: if the shapes of `grey` and `data` differ, or `white` is below 1.
    """

    def __init__(
        self,
        data: Tensor,
        size: int,
        seed: int,
        dtype: torch.dtype,
        grey: Tensor | None = None,
        white: int = 255,
    ) -> None:
        if grey is not None and grey.shape != data.shape:
            raise ValueError(
                f"grey must have the shape of the training images, {tuple(data.shape)}, "
                f"{tuple(grey.shape)} was given"
            )
        if white < 1:
            raise ValueError(f"white must be at least 1, {white} was given")
        self.data, self.size, self.seed, self.dtype, self.white = data, size, seed, dtype, white
        self.grey = None if grey is None else grey.to(data.device)
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.int64)

    def at(self, iteration: int) -> Tensor:
        """The batch of the given iteration, counted from 0: ``(size, *event_shape)``."""
        epoch, place = divmod(iteration, len(self.data) // self.size)
        if epoch != self._epoch:
            stream = Streams([self.seed], f"training order {epoch}")
            draws = stream.uniform((1, len(self.data)), (), torch.float64)
            self._epoch, self._order = epoch, draws[0].argsort(stable=True).to(self.data.device)
        rows = self._order[place * self.size : (place + 1) * self.size]
        if self.grey is None:
            return self.data[rows].to(self.dtype)
        grey = self.grey[rows].float() / self.white
        # Drawn on the images' device in single precision, which is enough for grey values of 8 bits.
        stream = Streams([self.seed], f"dynamic binarisation {iteration}", grey.device)
        return (stream.uniform((1, self.size), grey.shape[1:], grey.dtype)[0] < grey).to(self.dtype)
