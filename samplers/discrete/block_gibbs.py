"""Block Gibbs over coordinates: a random block is redrawn from its joint conditional."""

from __future__ import annotations

from torch import Tensor

from samplers.discrete.hamming_ball import HammingBall
from targets.spaces import Discrete


class BlockGibbs(HammingBall):
    """Redraws a random block of coordinates from its conditional under exp(beta * log_prob); exact.

    The Hamming-ball sampler whose radius is its block size: all ``levels ** block_size`` states of the block
    are evaluated, whatever the centre. BG-1 of EDLP (settings E.5) is ``block_size=1``, which has the
    distribution of `samplers.discrete.gibbs` with a random scan.

    Spaces: binary, ordinal, categorical, tours.
    Cost: one evaluation for each state of the block.
    Source: EDLP, section 6 (BG-1).

    Args:
        block_size: coordinates of a block; a target that has fewer is one block.
    """

    def __init__(self, block_size: int = 1) -> None:
        super().__init__(block_size, block_size)

    def _settings(self) -> str:
        return f"block_size={self.block_size}"

    def _centre(self, space: Discrete, levels: Tensor, block: Tensor, draw: Tensor) -> Tensor:
        return levels
