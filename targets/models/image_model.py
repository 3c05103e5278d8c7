"""What models of binary images share: the mean of their data, and first states with this mean."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from targets.checks import whole_number
from targets.randomness import Generator, uniform
from targets.spaces import Binary
from targets.target import Target


class ImageModel(Target):
    """A target on ``{0, 1}^n_visible`` with a fixed mean of the data, which `initial` draws from.

    Args:
        n_visible: number of pixels, the coordinates of a state, row by row.
        mean: mean of the training data, ``(n_visible,)``; 1/2 where there is none yet.

    Attributes:
        data_mean: `mean`, in float64 until ``.to(dtype)``; a subclass moves it away from 0 and 1.

    Raises:
        ValueError: if `n_visible` is not a positive integer or `mean` has the wrong shape.
    """

    batch_invariant = False
    space: Binary
    data_mean: Tensor

    def __init__(self, n_visible: int, mean: Tensor | None) -> None:
        super().__init__()
        self.space = Binary(whole_number("n_visible", n_visible))
        mean = torch.full((n_visible,), 0.5, dtype=torch.float64) if mean is None else mean.double()
        if mean.shape != (n_visible,):
            raise ValueError(f"mean must have the shape ({n_visible},), {tuple(mean.shape)} was given")
        self.register_buffer("data_mean", mean)

    @property
    def n_visible(self) -> int:
        """Number of pixels."""
        return self.space.d

    def initial(self, shape: Sequence[int], generator: Generator) -> Tensor:
        """Independent draws ``(*shape, n_visible)`` of Bernoulli pixels with the data mean."""
        draws = uniform(generator, shape, self.space.event_shape, like=self.data_mean)
        return (draws < self.data_mean).to(draws.dtype)

    def dot(self, theta: Tensor, weights: Tensor) -> Tensor:
        """The sum of each state's `weights` ``(n_visible,)``, ``(*batch)``.

        torch 2.6 chooses how it multiplies, and with it the rounding, by the stride of an axis of length 1;
        a matrix with a row for each state has none.
        """
        return (theta.reshape(-1, self.n_visible) @ weights).view(theta.shape[:-1])


def image_shape(n_visible: int, shape: Sequence[int] | None) -> tuple[int, int]:
    """Height and width of an image of `n_visible` pixels: `shape`, or a square where it is None.

    Raises:
        ValueError: if they do not make `n_visible` pixels.
    """
    if shape is None:
        side = round(n_visible**0.5)
        if side * side != n_visible:
            raise ValueError(
                f"shape must be given where n_visible is no square number, n_visible={n_visible} was given"
            )
        return side, side
    sizes = tuple(shape) if isinstance(shape, (list, tuple)) else ()
    whole = all(isinstance(size, int) and not isinstance(size, bool) and size >= 1 for size in sizes)
    if len(sizes) != 2 or not whole or sizes[0] * sizes[1] != n_visible:
        raise ValueError(
            f"shape must be the height and width of an image of {n_visible} pixels (n_visible), "
            f"{shape!r} was given"
        )
    return sizes[0], sizes[1]
