"""How far one step of a kernel moves its target, by enumeration, and whether it steps as enumerated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from metrics.enumeration.row_agreement import Agreement
from runner.execution.errors import one_sentence
from runner.tools.exactness.kernel_variants import KernelVariant
from runner.tools.exactness.measured_kernel import Measured, is_tempered, measured_kernel
from runner.tools.exactness.served import crash, kernel_for
from runner.tools.exactness.step_agreement import DRAWS, LEVEL
from samplers.kernel import NotEnumerableError
from samplers.trial.step_trial import try_step
from samplers.tuning.tunable import fixed
from targets.randomness import Streams
from targets.target import Target

LIMIT = 1e-12

ROW_LIMIT = 1e-9
"""How far the sum of a row of P may be from 1 by rounding."""


@dataclass(frozen=True)
class Distance:
    """A sampler on a space, over all its settings.

    Attributes:
        claimed: whether it claims to be exact.
        error: max |pi P - pi|, the largest over inverse temperatures, step sizes and positions of a cycle.
        p_value: of the drawn steps under the matrices, corrected for their number; NaN if none were drawn.
        bias: total variation of its stationary distribution to the target, lowest and highest; if inexact.
        checked: number of transition matrices.
        left_out: why something was not checked; empty if all was.
        crash: the first error on which something could not be checked; empty if there was none.
        row_error: how far the sum of a row of P is from 1, at most.
    """

    sampler: str
    space: str
    claimed: bool
    error: float
    p_value: float
    bias: tuple[float, float] | None
    checked: int
    left_out: str
    crash: str = ""
    row_error: float = 0.0

    @property
    def unnormalised(self) -> bool:
        """Whether its matrices are none: a row of them does not sum to 1."""
        return self.checked > 0 and self.row_error > ROW_LIMIT

    @property
    def moves(self) -> bool:
        """Whether it claims to be exact, was checked, and moves its target."""
        return self.claimed and self.checked > 0 and not self.error <= LIMIT

    @property
    def strays(self) -> bool:
        """Whether its steps do not follow its matrices."""
        return self.checked > 0 and not self.p_value >= LEVEL

    @property
    def fails(self) -> bool:
        """Whether it is not what it claims to be, or not what its matrices say."""
        return self.unnormalised or self.moves or self.strays


def distance(settings: Iterable[KernelVariant], space: str, target: Target, draws: int = DRAWS) -> Distance:
    """The distance of one sampler, at all its `settings`, from `target`; `draws` steps from each state."""
    parts: list[Measured] = []
    reasons: dict[str, None] = {}
    name, claimed, crashed = "", False, ""
    # Last ones first: those of a ladder have unequal step sizes and uneven partition functions.
    for variant in reversed(list(settings)):
        name, claimed = variant.name, claimed or fixed(variant.sampler).exact
        try:
            kernel = kernel_for(variant.sampler, target)
            two = target.initial((*kernel.axes, 1, 2), Streams([0], "start"))
            try_step(kernel, target, two, target.like().new_ones(()))
            parts += measured_kernel(kernel, target, 0 if parts and is_tempered(kernel) else draws)
        except NotEnumerableError as error:
            reasons[one_sentence(error)] = None
        except Exception as error:
            crashed = crashed or crash(error)
    biases = [part.bias for part in parts if part.bias is not None]
    return Distance(
        name,
        space,
        claimed,
        # Python's max() would pass over a NaN that is not the first.
        error=float(np.max([part.error for part in parts] or [np.nan])),
        p_value=sum((part.steps for part in parts), Agreement()).p_value if parts else np.nan,
        bias=(min(biases), max(biases)) if biases else None,
        checked=sum(part.checked for part in parts),
        left_out="; ".join(reasons),
        crash=crashed,
        row_error=float(np.max([part.row_error for part in parts] or [0.0])),
    )
