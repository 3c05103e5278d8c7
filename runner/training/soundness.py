"""A training that has gone wrong is stopped before anything of it is saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from runner.errors import RunError
from targets.target import Target


class TrainingError(RunError):
    """A training whose loss or parameters are not finite; its iterations since the last check are void."""

    def __init__(self, iteration: int, loss: float, what: str, checkpoint: Path | None) -> None:
        kept = (
            f"the last good checkpoint is kept at {checkpoint}"
            if checkpoint is not None and checkpoint.exists()
            else "there is no checkpoint yet"
        )
        super().__init__(
            f"Training stopped at iteration {iteration}, where {what} not finite (loss {loss:g}); {kept}."
        )
        self.iteration, self.loss, self.what, self.checkpoint = iteration, loss, what, checkpoint


def check_sound(target: Target, losses: Sequence[Tensor], last: int, checkpoint: Path | None) -> None:
    """Refuses losses and parameters that are not finite; waits for the device.

    Args:
        losses: of the iterations up to number `last`, at least one.
        checkpoint: where the last good checkpoint is, if there is one.

    Raises:
        TrainingError: naming the first iteration that went wrong.
    """
    values = torch.stack(list(losses))
    bad = (~values.isfinite()).nonzero()
    if len(bad):
        at = int(bad[0])
        raise TrainingError(last - len(losses) + at + 1, float(values[at]), "the loss is", checkpoint)
    if not all(bool(parameter.isfinite().all()) for parameter in target.parameters()):
        raise TrainingError(last, float(values[-1]), "the parameters are", checkpoint)
