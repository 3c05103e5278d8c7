"""The divergence check: a training that diverges is stopped before its state is saved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from runner.execution.errors import DivergenceError
from targets.target import Target

ENERGY_LIMIT = 2.0**23
"""In nats; beyond it the spacing of float32 exceeds one nat, and acceptances are dominated by rounding."""


class TrainingError(DivergenceError):
    """A training has diverged; its iterations since the last check must be discarded.

    Args:
        iteration: the iteration at which it stopped.
        loss: of that iteration, or None if it is not informative.
        what: the fault, such as "the loss is not finite".
        checkpoint: path of the last good checkpoint, which may not exist.
    """

    def __init__(self, iteration: int, loss: float | None, what: str, checkpoint: Path | None) -> None:
        kept = (
            f"the last good checkpoint is kept at {checkpoint}"
            if checkpoint is not None and checkpoint.exists()
            else "there is no checkpoint yet"
        )
        shown = "" if loss is None else f" (loss {loss:g})"
        super().__init__(f"Training stopped at iteration {iteration}, where {what}{shown}; {kept}.")
        self.iteration, self.loss, self.what, self.checkpoint = iteration, loss, what, checkpoint


def check_divergence(
    target: Target, iterations: Sequence[tuple[Tensor, Tensor]], last: int, checkpoint: Path | None
) -> None:
    """Checks that losses and parameters are finite and energies bounded; waits for the device.

    Args:
        iterations: loss, and mean |U| over samples and data, of the iterations up to number `last`; without
            any there is nothing to check.
        checkpoint: path of the last good checkpoint, or None.

    Raises:
        TrainingError: naming the first iteration that failed.
    """
    if not iterations:
        return
    losses, sizes = (torch.stack(values) for values in zip(*iterations, strict=True))
    bad = (~losses.isfinite() | (sizes > ENERGY_LIMIT)).nonzero()
    if len(bad):
        at = int(bad[0])
        loss, size = float(losses[at]), float(sizes[at])
        what = "the loss is not finite"
        if math.isfinite(loss):
            what = f"the energies have exploded: |U| is {size:g} nats on average, above {ENERGY_LIMIT:g}"
        raise TrainingError(last - len(losses) + at + 1, loss, what, checkpoint)
    if not all(bool(parameter.isfinite().all()) for parameter in target.parameters()):
        raise TrainingError(last, float(losses[-1]), "the parameters are not finite", checkpoint)
