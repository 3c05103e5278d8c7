"""A training that has gone wrong is stopped before anything of it is saved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from runner.execution.errors import RunError
from targets.target import Target

ENERGY_LIMIT = 2.0**23
"""Nats; beyond it a float32 does not tell one nat from the next, and acceptances are rounding alone."""


class TrainingError(RunError):
    """A training that has left what is possible; its iterations since the last check are void.

    Args:
        iteration: where it stopped.
        loss: of that iteration, where it says something.
        what: which is not as it must be, as in "the loss is not finite".
        checkpoint: where the last good one is, if it is there.
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


def check_sound(
    target: Target, losses: Sequence[Tensor], energies: Sequence[Tensor], last: int, checkpoint: Path | None
) -> None:
    """Refuses losses and parameters that are not finite and energies that explode; waits for the device.

    Args:
        losses: of the iterations up to number `last`, at least one.
        energies: mean |U| over the samples and the data of each of them.
        checkpoint: where the last good checkpoint is, if there is one.

    Raises:
        TrainingError: naming the first iteration that went wrong.
    """
    values, sizes = torch.stack(list(losses)), torch.stack(list(energies))
    bad = (~values.isfinite() | (sizes > ENERGY_LIMIT)).nonzero()
    if len(bad):
        at = int(bad[0])
        loss, size = float(values[at]), float(sizes[at])
        what = "the loss is not finite"
        if math.isfinite(loss):
            what = f"the energies have exploded: |U| is {size:g} nats on average, above {ENERGY_LIMIT:g}"
        raise TrainingError(last - len(losses) + at + 1, loss, what, checkpoint)
    if not all(bool(parameter.isfinite().all()) for parameter in target.parameters()):
        raise TrainingError(last, float(values[-1]), "the parameters are not finite", checkpoint)
