"""The residual network of the deep energy-based models: one number for an image (settings D.1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor, nn
from torch.nn.functional import silu

from targets.checks import whole_number
from targets.models.fused_first_convolution import fused_first_convolution, supports_size

PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True)
class NetworkOptions:
    """What a residual network is, besides its weights.

    Attributes:
        width: number of maps.
        blocks: number of residual blocks.
        halvings: number of blocks, from the first, with stride 2.
        precision: ``bfloat16`` computes the convolutions of the blocks in bfloat16, also on the CPU; the mean
            over the map and the linear unit keep the dtype of the images. Ignored for float64.
        compile: whether to compile the network on CUDA; ignored on the CPU.

    Raises:
        ValueError: naming the argument, its value and what is allowed.
    """

    width: int = 64
    blocks: int = 8
    halvings: int = 2
    precision: str = "float32"
    compile: bool = False

    def __post_init__(self) -> None:
        whole_number("width", self.width)
        whole_number("blocks", self.blocks, 0)
        if whole_number("halvings", self.halvings, 0) > self.blocks:
            raise ValueError(f"halvings must be at most blocks={self.blocks}, {self.halvings} was given")
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision must be {' or '.join(PRECISIONS)}, {self.precision!r} was given")
        if not isinstance(self.compile, bool):
            raise ValueError(f"compile must be true or false, {self.compile!r} was given")


class Block(nn.Module):
    """Swish(conv(Swish(conv(x))) + shortcut(x)), both convolutions 3 x 3, the first with the stride.

    The shortcut is the identity, or a 1 x 1 convolution where the stride is not 1.
    """

    def __init__(self, width: int, stride: int) -> None:
        super().__init__()
        self.first = _convolution(width, width, 3, stride)
        self.second = _convolution(width, width, 3)
        self.shortcut = _convolution(width, width, 1, stride) if stride != 1 else None

    def forward(self, maps: Tensor) -> Tensor:
        """``(images, width, height, width)`` to ``(images, width, ceil(height / stride), ...)``."""
        passed = maps if self.shortcut is None else self.shortcut(maps)
        return self.joined(self.first(maps), passed)

    def joined(self, inner: Tensor, passed: Tensor) -> Tensor:
        """The block's output from the outputs of its first convolution and of its shortcut."""
        output: Tensor = self.second(silu(inner))
        return silu(output.add_(passed))


class ResidualNetwork(nn.Module):
    """A 3 x 3 convolution to maps, residual blocks, the mean over the map, one linear unit.

    No normalisation; every layer has biases; images can have any size. With 64 maps, 8 blocks and 2 halvings
    it has 599,873 parameters. The weights are stored channels-last, with which an evaluation of 100 images of
    28 x 28 on one thread took 23 instead of 41 ms with 16 maps and 4 blocks, and 198 instead of 260 ms with
    64 maps and 8 blocks.

    Args:
        options: number of maps and blocks, and the precision.
        generator: of the weights and biases, uniform on +-1 / sqrt(inputs of the unit), as PyTorch does.
    """

    def __init__(self, options: NetworkOptions, generator: torch.Generator) -> None:
        super().__init__()
        width = options.width
        strides = [2] * options.halvings + [1] * (options.blocks - options.halvings)
        self.precision = options.precision
        self.first = _convolution(1, width, 3)
        self.blocks = nn.Sequential(*(Block(width, stride) for stride in strides))
        self.last = nn.Linear(width, 1, device="meta", dtype=torch.float64)
        # Created without memory and filled from `generator`, so that the global generator is not used.
        self.to_empty(device="cpu")
        with torch.no_grad():
            for layer in self.modules():
                if isinstance(layer, (nn.Conv2d, nn.Linear)):
                    bound = layer.weight[0].numel() ** -0.5
                    for parameter in layer.parameters():
                        parameter.uniform_(-bound, bound, generator=generator)
        self.to(memory_format=torch.channels_last)

    def forward(self, images: Tensor) -> Tensor:
        """``(images, 1, height, width)`` to ``(images,)``."""
        with torch.autocast(images.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
            maps = self._first_block(images)
            for block in islice(self.blocks, 1, None):
                maps = block(maps)
        output: Tensor = self.last(maps.to(images.dtype).mean((-2, -1)))
        return output.squeeze(-1)

    def _first_block(self, images: Tensor) -> Tensor:
        """The output of the first block, or of the first convolution where there is no block."""
        block = self.blocks[0] if len(self.blocks) else None
        if not isinstance(block, Block):
            maps: Tensor = self.first(images)
            return maps
        if block.shortcut is None or not supports_size(*images.shape[-2:]):
            maps = block(self.first(images))
            return maps
        with torch.autocast(images.device.type, enabled=False):
            inner, passed = fused_first_convolution(
                images, _layer(self.first), _layer(block.first), _layer(block.shortcut)
            )
        return block.joined(inner, passed)


def _layer(convolution: nn.Conv2d) -> tuple[Tensor, Tensor]:
    """Weight and bias of a convolution."""
    assert convolution.bias is not None
    return convolution.weight, convolution.bias


def _convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Conv2d:
    """A padded convolution, whose output size is the input's over the stride, rounded up; no weights yet."""
    return nn.Conv2d(
        inputs, outputs, size, stride=stride, padding=size // 2, device="meta", dtype=torch.float64
    )
