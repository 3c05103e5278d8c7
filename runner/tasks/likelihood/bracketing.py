"""Whether log Z from both ends can be right: what a run says where it cannot."""

from __future__ import annotations

from collections.abc import Mapping

from runner.execution.errors import warn

WHY = (
    "either the draws that reverse annealing starts from (task.ais.draw_steps) are not the model's, or both "
    "annealings miss a part of it (task.ais.temperatures, task.ais.chains)"
)


def warn_of_bracket(values: Mapping[str, float], seed: int) -> None:
    """Warns where the exact log Z lies outside both estimates, or the reverse one lies below the other.

    Forward annealing is too low on average, reverse annealing from draws of the model too high; both by their
    95 % intervals.

    Args:
        values: `runner.tasks.likelihood.annealings.both_ends`, and ``log_z_exact`` where that is known.
        seed: of the run.
    """
    found = {name: (values[f"{name}_low"], values[f"{name}_high"]) for name in ("log_z", "log_z_reverse")}
    (low, high), (reverse_low, reverse_high) = found.values()
    exact = values.get("log_z_exact")
    said = f"log Z is {values['log_z']:.5g} by forward and {values['log_z_reverse']:.5g} by reverse annealing"
    if exact is not None and not min(low, reverse_low) <= exact <= max(high, reverse_high):
        warn(f"seed {seed}: {said}, which do not bracket the exact value, {exact:.5g}; {WHY}.")
    elif reverse_high < low:
        warn(f"seed {seed}: {said}, which bracket no value, since the reverse one is lower; {WHY}.")
