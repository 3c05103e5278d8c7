"""DMALA on an RBM in JAX, written as well as we can: a compiled peer of the bench. Needs the extra ``jax``.

Value and gradient of the state are kept, steps are compiled together, and buffers are given back. Of threefry
and Philox numbers, the sigmoid and its parts, logarithms of products and of factors, the fastest were taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from torch import Tensor

from targets import RBM

STEPS = 10
"""Steps in one call; one by one they are 5 to 8 % slower."""

Chains = tuple[Array, Array, Array, Array]
"""Key, states ``(chains, d)``, their U ``(chains,)`` and its gradient ``(chains, d)``."""


def jax_dmala(
    weight: Array, hidden_bias: Array, visible_bias: Array, step_size: float, length: int = STEPS
) -> tuple[Callable[[Array, Array], Chains], Callable[[Chains], tuple[Chains, Any]]]:
    """Start and steps of DMALA (PT-DLP v2, Eqs. 2 and 6) on an RBM with these parameters.

    Args:
        length: steps in one call.

    Returns:
        The chains at given states, from a key; `length` steps, whose chains are used up, with the acceptance
        probability and the jump of each ``(length, chains)``.
    """

    def value_and_grad(theta: Array) -> tuple[Array, Array]:
        logits = theta @ weight.T + hidden_bias
        active = jax.nn.sigmoid(logits)
        softplus = jnp.maximum(logits, 0.0).sum(-1) - jnp.log(jnp.abs(active - 0.5) + 0.5).sum(-1)
        return softplus + theta @ visible_bias, active @ weight + visible_bias

    def flip_logits(theta: Array, grad: Array) -> Array:
        return 0.5 * grad * (1.0 - 2.0 * theta) - 0.5 / step_size

    def log_flips(logit: Array, flip: Array, weight: Array) -> Array:
        return jnp.minimum(jnp.where(flip, logit, -logit), 0.0).sum(-1) - jnp.log(weight).sum(-1)

    def step(chains: Chains, _: None) -> tuple[Chains, tuple[Array, Array]]:
        key, theta, value, grad = chains
        key, for_flips, for_moves = jax.random.split(key, 3)
        logit = flip_logits(theta, grad)
        odds = jnp.exp(-jnp.abs(logit))
        chance = jax.random.uniform(for_flips, theta.shape, theta.dtype)
        flip = chance * (1.0 + odds) < jnp.where(logit > 0.0, 1.0, odds)
        forward = log_flips(logit, flip, 1.0 + odds)
        proposed = jnp.where(flip, 1.0 - theta, theta)
        value_there, grad_there = value_and_grad(proposed)
        back = flip_logits(proposed, grad_there)
        reverse = log_flips(back, flip, 1.0 + jnp.exp(-jnp.abs(back)))
        acceptance = jnp.exp(jnp.minimum(value_there - value + reverse - forward, 0.0))
        moves = jax.random.uniform(for_moves, value.shape, value.dtype) < acceptance
        rows = moves[:, None]
        after = (
            key,
            jnp.where(rows, proposed, theta),
            jnp.where(moves, value_there, value),
            jnp.where(rows, grad_there, grad),
        )
        return after, (acceptance, jnp.where(moves, flip.sum(-1), 0))

    def start(key: Array, theta: Array) -> Chains:
        return key, theta, *value_and_grad(theta)

    def steps(chains: Chains) -> tuple[Chains, Any]:
        after, said = jax.lax.scan(step, chains, None, length=length)
        return after, said

    return jax.jit(start), jax.jit(steps, donate_argnums=0)


def rbm_peer(
    target: RBM, theta: Tensor, hidden: Tensor, step_size: float, length: int = STEPS
) -> tuple[Callable[[], None], Callable[[], object]]:
    """Calls that take `length` steps of chains at `theta` and wait for them, and that start two products.

    Args:
        target, theta, hidden: on the CPU; states ``(chains, d)`` and the activations of their hidden units.
    """
    weight, hidden_bias, visible_bias, states, active = (
        jnp.asarray(each.numpy())
        for each in (target.weight, target.hidden_bias, target.visible_bias, theta, hidden)
    )
    start, steps = jax_dmala(weight, hidden_bias, visible_bias, step_size, length)
    chains = start(jax.random.key(0), states)
    products = jax.jit(lambda theta, hidden: (theta @ weight.T, hidden @ weight))

    def take_steps() -> None:
        nonlocal chains
        chains, said = steps(chains)
        jax.block_until_ready((chains, said))

    return take_steps, lambda: products(states, active)
