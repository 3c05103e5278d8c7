"""Whether the states of a kernel are draws from the model in training, as learning needs them."""

from __future__ import annotations

from samplers.kernel import Kernel
from samplers.reference.held_out_draws import HeldOutDraws


def check_draws(kernel: Kernel) -> None:
    """Refuses a kernel whose states are not all draws from the model as it is.

    Raises:
        ValueError: if its chains move between temperatures or follow a schedule, or for held-out draws.
    """
    name = type(kernel).__name__
    if kernel.has_levels:
        raise ValueError(
            f"{name} has draws from the model only where a chain is at the cold level, "
            "and learning needs one of every chain"
        )
    if not kernel.draws_target:
        raise ValueError(
            f"learning needs draws from the model; the states of {name} are no such draws, since they "
            "depend on its schedule"
        )
    if isinstance(kernel, HeldOutDraws):
        raise ValueError(
            "ground_truth_draws needs the target's held_out draws, and there are none of a model in training"
        )
