"""What a user gives of the levels of simulated tempering: their log Z_i and their step sizes, checked."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from samplers.continuous.gaussian_random_walk import GaussianWalk
from samplers.hyperparameters import AUTO, is_number, one_of, positive
from samplers.kernel import Kernel
from samplers.tempering.simulated.level_tuning import STMH
from samplers.tuning.step_size import Steppable


def given_log_partition(given: Sequence[float] | str, betas: Tensor | None) -> Tensor | None:
    """log Z_i ``(L,)`` in float64, None for ``auto``.

    Args:
        given: ``auto``, or one number for each level.
        betas: of the ladder, ``(L,)``; None while it is not known.

    Raises:
        ValueError: if it is anything else, or a number is not finite.
    """
    if given == AUTO:
        return None
    values = [] if isinstance(given, str) or not isinstance(given, Sequence) else list(given)
    if betas is None or len(values) != len(betas) or not all(map(is_number, values)):
        raise ValueError(
            "log_partition must be 'auto' or one number for each level of a given ladder, "
            f"{given if isinstance(given, str) else values!r} was given"
        )
    tensor = torch.tensor(values, dtype=torch.float64)
    if not bool(tensor.isfinite().all()):
        raise ValueError(f"log_partition must be finite, {values!r} was given")
    return tensor


def given_step_sizes(
    given: float | Sequence[float] | str | None, kernel: Kernel, betas: Tensor | None
) -> Tensor | None:
    """One step size, a scalar, or one for each level ``(L,)``, in float64; None where none is given.

    Args:
        given: a number, one for each level, ``auto``, ``stmh`` (around the random walk), or None for what the
            kernel itself has.
        kernel: what the levels temper.
        betas: as in `given_log_partition`.

    Raises:
        ValueError: if it is anything else, or does not go with the kernel.
    """
    if given is None:
        if kernel.untuned and not isinstance(kernel, Steppable):
            raise ValueError(f"kernel must be given with its {kernel.untuned[0]}, 'auto' was given")
        return None
    if not isinstance(kernel, Steppable):
        raise ValueError(
            f"step_size must be null around {type(kernel).__name__}, which takes its own or has none, "
            f"{given!r} was given"
        )
    if isinstance(given, str):
        walk = isinstance(kernel, GaussianWalk)
        one_of("step_size", given, (AUTO, STMH) if walk else (AUTO,))
        return None
    if not isinstance(given, Sequence):
        return positive("step_size", given)
    sizes = [s for s in (positive("step_size", v) for v in given) if s is not None]
    if betas is None or len(sizes) != len(betas):
        raise ValueError(
            "step_size must be one number, 'auto', 'stmh', or one number for each level of a given "
            f"ladder, {list(given)!r} was given"
        )
    return torch.stack(sizes)
