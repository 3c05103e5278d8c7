"""The deep energy-based model on binary images: a residual network and the data mean (PT-DLP Table 3)."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from targets.models.image_model import ImageModel, image_shape
from targets.models.residual_network import NetworkOptions, ResidualNetwork
from targets.randomness import derive_seed

MEAN_SHARE, MEAN_FLOOR = 0.98, 0.01
"""The data mean is shrunk to 0.98 mean + 0.01, so that no pixel of the reference term is certain."""

CHUNK = 2**24
"""Elements of the first layer's output that are computed at once: 334 images of 28 x 28 with 64 maps, which
take 0.23 GB. Chunks of 128 images or more are equally fast."""


class ResNetEBM(ImageModel):
    """U(x) = net(x) + sum_i log Bernoulli(x_i; m_i) on ``{0, 1}^n_visible``, m = 0.98 mean + 0.01 fixed.

    One forward and one backward pass give the value and the gradient; large batches are processed in chunks.
    U, the reference term and hence all acceptance probabilities have the dtype of the states.

    Spaces: binary.
    Source: PT-DLP, Table 3.

    Args:
        n_visible: number of pixels, the coordinates of a state, row by row.
        mean: mean of the training data, ``(n_visible,)``; 1/2 where there is none yet.
        seed: of the weights.
        shape: height and width of an image; by default a square.
        options: width, blocks, halvings, precision and compile, see `NetworkOptions`. With ``bfloat16``, 100
            images of 28 x 28 with 64 maps and 8 blocks took 206 instead of 306 ms on a CPU with AVX-512 BF16.

    Attributes:
        network: the `ResidualNetwork`; its parameters are those of the target.
        data_mean: m, ``(n_visible,)``: the reference distribution, from which `initial` draws.
        shape: height and width of an image.

    Raises:
        ValueError: naming the argument, its value and what is allowed.
    """

    by_seed = ("log_prob", "log_prob_and_grad")

    def __init__(
        self,
        n_visible: int,
        mean: Tensor | None = None,
        seed: int = 0,
        shape: Sequence[int] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(n_visible, mean)
        if not bool(((self.data_mean >= 0.0) & (self.data_mean <= 1.0)).all()):
            raise ValueError("mean must be between 0 and 1 at every pixel, other numbers were given")
        self.data_mean = MEAN_SHARE * self.data_mean + MEAN_FLOOR
        self.shape = image_shape(n_visible, shape)
        self.options = NetworkOptions(**options)
        generator = torch.Generator().manual_seed(derive_seed(seed, "weights"))
        self.network = ResidualNetwork(self.options, generator)

    def log_prob(self, theta: Tensor) -> Tensor:
        images = self._images(theta)
        output = torch.cat([self._output(part) for part in torch.split(images, self._chunk())])
        return output.view(theta.shape[:-1]) + self._base(theta)

    def log_prob_and_grad(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """U and its gradient net'(x) + logit m, chunk by chunk: no pass through the parameters."""
        outputs, grads = [], []
        for part in torch.split(self._images(theta.detach()), self._chunk()):
            with torch.enable_grad():
                leaf = part.detach().requires_grad_(True)
                output = self._output(leaf)
                # The images are independent, so the gradient of the sum consists of their gradients.
                (grad,) = torch.autograd.grad(output, leaf, torch.ones_like(output))
            outputs.append(output.detach())
            grads.append(grad)
        log_prob = torch.cat(outputs).view(theta.shape[:-1]) + self._base(theta.detach())
        return log_prob, torch.cat(grads).view(theta.shape).add_(self.data_mean.logit())

    def probabilities(self) -> Tensor:
        """Exact probabilities of all states, ``(2 ** n_visible,)``, float64, for small images.

        Raises:
            ValueError: if there are too many states to list.
        """
        states = self.space.states().to(self.data_mean)
        with torch.no_grad():
            return self.log_prob(states).double().softmax(-1)

    def _images(self, theta: Tensor) -> Tensor:
        """``(*batch, n_visible)`` as ``(images, 1, height, width)``."""
        if theta.shape[-1] != self.n_visible:
            raise ValueError(
                f"theta must have {self.n_visible} pixels, as the network expects, "
                f"{theta.shape[-1]} were given"
            )
        return theta.reshape(-1, 1, *self.shape)

    def _chunk(self) -> int:
        return max(1, CHUNK // (self.options.width * self.n_visible))

    def _output(self, images: Tensor) -> Tensor:
        if self.options.compile and images.is_cuda and self.network._compiled_call_impl is None:
            self.network.compile()
        output: Tensor = self.network(images)
        return output

    def _base(self, theta: Tensor) -> Tensor:
        """sum_i log Bernoulli(x_i; m_i), ``(*batch)``, interpolated linearly between 0 and 1."""
        return self.dot(theta, self.data_mean.logit()) + (-self.data_mean).log1p().sum()


def _signature() -> inspect.Signature:
    """The constructor's parameters with those of `NetworkOptions` by name, as configurations give them."""
    own = [each for each in inspect.signature(ResNetEBM).parameters.values() if each.name != "options"]
    fields = inspect.signature(NetworkOptions).parameters.values()
    return inspect.Signature([*own, *(each.replace(kind=each.KEYWORD_ONLY) for each in fields)])


ResNetEBM.__signature__ = _signature()  # type: ignore[attr-defined]
