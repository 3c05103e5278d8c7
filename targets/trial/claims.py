"""Compares what a target says of itself with its log density: log Z, the order parameter, exact draws."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from targets.checks import described
from targets.randomness import Streams
from targets.spaces import Discrete
from targets.target import ExactlySampled, HasLogPartition, HasMagnetisation, Target
from targets.trial.failures import failure
from targets.trial.some_states import some_states

MOST = 2**14
"""States up to which a space is listed; exact draws and log Z of larger ones are taken as they are."""

BETAS = (1.0, 0.5)
"""Inverse temperatures at which log Z is looked at."""

DRAWS = 2000
"""Exact draws that are compared with the listed probabilities."""

DEVIATIONS, RARE = 6.0, 10.0
"""How far a mean over the draws may be off: so many standard errors, and the share of so many draws of the
widest value among them, since rare states are drawn once or not at all."""


def try_claims(name: str, target: Target) -> None:
    """Refuses a target whose `log_partition`, `magnetisation` or `sample` contradicts its log density.

    Args:
        name: what the target is called in the message.

    Raises:
        ValueError: naming what it gave and what was expected, in one sentence.
    """
    if isinstance(target, HasMagnetisation):
        _try_magnetisation(name, target, target.magnetisation)
    space = target.space
    if not isinstance(space, Discrete) or space.size > MOST:
        return
    if not isinstance(target, HasLogPartition | ExactlySampled):
        return
    states = space.states(target.like().dtype).to(target.like().device)
    log_prob = target.log_prob(states).double()
    if isinstance(target, HasLogPartition):
        _try_log_partition(name, target, log_prob)
    if isinstance(target, ExactlySampled):
        _try_draws(name, target, space, states, log_prob)


def _try_magnetisation(name: str, target: Target, magnetisation: object) -> None:
    theta = some_states(target)
    assert callable(magnetisation)
    try:
        found = magnetisation(theta)
    except Exception as error:
        raise ValueError(f"The magnetisation of {name} cannot be evaluated: {failure(error)}.") from error
    expected = tuple(target.space.batch_shape(theta))
    if not isinstance(found, Tensor) or tuple(found.shape) != expected:
        got = f"shape {tuple(found.shape)}" if isinstance(found, Tensor) else described(found)
        raise ValueError(f"The magnetisation of {name} must have the shape {expected}, not {got}.")
    largest = float(found.abs().max())
    if not largest <= 1.0 + 1e-3:
        raise ValueError(
            f"The magnetisation of {name} must lie between -1 and 1, as one per site; a state has "
            f"{largest:.6g}."
        )


def _try_log_partition(name: str, target: HasLogPartition, log_prob: Tensor) -> None:
    """`log_prob`: U of all states."""
    for beta in BETAS:
        try:
            found = target.log_partition(beta)
        except ValueError:
            return  # It is not known for this instance.
        except Exception as error:
            raise ValueError(f"The log_partition of {name} cannot be evaluated: {failure(error)}.") from error
        if not isinstance(found, Tensor) or found.dim():
            got = f"shape {tuple(found.shape)}" if isinstance(found, Tensor) else described(found)
            raise ValueError(f"The log_partition of {name} must be a scalar tensor, not {got}.")
        listed = float((beta * log_prob).logsumexp(0))
        if not abs(float(found) - listed) <= 1e-3 * (1.0 + abs(listed)):
            raise ValueError(
                f"The log_partition of {name} must be log sum exp(beta U) over all states; at beta {beta:g} "
                f"it gives {float(found):.6g}, and they add up to {listed:.6g}."
            )


def _try_draws(name: str, target: Target, space: Discrete, states: Tensor, log_prob: Tensor) -> None:
    """Compares means of U and of the coordinates with those over all `states`, of which `log_prob` is U."""
    assert isinstance(target, ExactlySampled)
    streams = Streams([0], "trial", states.device)
    try:
        draws = target.sample((1, DRAWS), streams)
    except ValueError:
        return  # Not of this instance; the sampler says so.
    except Exception as error:
        raise ValueError(f"The exact draws of {name} cannot be made: {failure(error)}.") from error
    expected = (1, DRAWS, *space.event_shape)
    if not isinstance(draws, Tensor) or tuple(draws.shape) != expected:
        got = f"shape {tuple(draws.shape)}" if isinstance(draws, Tensor) else described(draws)
        raise ValueError(f"The exact draws of {name} must have the shape {expected}, not {got}.")
    draws = draws.to(states)
    if not bool(space.contains(draws).all()):
        raise ValueError(f"The exact draws of {name} must lie in its space {space}, some do not.")
    place = space.index(draws[0]).to(states.device)
    shares = log_prob.softmax(0)
    if bool((shares[place] == 0).any()):
        raise ValueError(f"The exact draws of {name} have states among them that its log density excludes.")
    values = torch.cat([log_prob.unsqueeze(-1), states.double().flatten(1)], -1)
    values = torch.where(shares.unsqueeze(-1) > 0, values, 0.0)
    mean = shares @ values
    variance = shares @ (values - mean).square()
    drawn = values[place]
    widest = (drawn - mean).abs().amax(0)
    room = DEVIATIONS * (variance / DRAWS).sqrt() + RARE * widest / DRAWS + 1e-9
    off = (drawn.mean(0) - mean).abs() > room
    if bool(off.any()):
        at = int(off.nonzero()[0])
        what = "log density" if at == 0 else f"coordinate {at - 1}"
        raise ValueError(
            f"The exact draws of {name} are not draws from it: the mean {what} of {DRAWS} is "
            f"{float(drawn[:, at].mean()):.4g}, that of its log density's distribution {float(mean[at]):.4g} "
            f"(standard error {math.sqrt(float(variance[at]) / DRAWS):.2g})."
        )
