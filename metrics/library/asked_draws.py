"""Refuses, before any work, what gives no draws: a budget without one, and states that are none."""

from __future__ import annotations

from samplers.kernel import Kernel
from targets.checks import whole_number
from targets.target import Target

BURN_IN = 0.2
"""Share of the steps before the first draw, as in ``conf/task/sample.yaml``."""


def burn_in_asked(chains: int, steps: int, burn_in: int | None, thin: int, seed: int) -> int:
    """The steps before the first draw, by default a fifth of `steps`, rounded.

    Raises:
        ValueError: if a number is out of range, or no draw is left.
    """
    whole_number("chains", chains)
    whole_number("steps", steps)
    whole_number("thin", thin)
    whole_number("seed", seed, 0)
    burn_in = round(BURN_IN * steps) if burn_in is None else whole_number("burn_in", burn_in, 0)
    if burn_in + thin > steps:
        raise ValueError(
            f"burn_in and thin must leave at least one draw of {steps} steps, {burn_in} and {thin} were given"
        )
    return burn_in


def require_draws(kernel: Kernel, *, levels: bool) -> None:
    """Refuses a kernel some of whose states are no draws from the target.

    Args:
        levels: whether its chains move between temperatures.

    Raises:
        ValueError: in one sentence.
    """
    name = type(kernel).__name__
    if not kernel.draws_target:
        raise ValueError(
            f"the states of {name} are no draws from the target, since they depend on its schedule; measure "
            "them with metrics.MetricSuite"
        )
    if levels:
        raise ValueError(
            f"the chains of {name} move between temperatures, so their states are draws from the target at "
            "the cold level only; measure them with metrics.MetricSuite"
        )


def require_arrays(target: Target) -> None:
    """Raises ValueError, in one sentence, unless NumPy has the dtype of `target`, which draws have."""
    like = target.like()
    try:
        like.cpu().numpy()
    except TypeError as error:
        raise ValueError(
            f"the target must have a dtype that NumPy has, such as torch.float32, {like.dtype} was given"
        ) from error
