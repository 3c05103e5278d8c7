"""What samplers are checked on: small rugged targets, or the one that the command names."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from omegaconf import DictConfig

from runner.config.overrides import parse
from runner.execution.errors import UserError
from runner.problem.build import build_target
from runner.tools.exactness.small_tours import SmallTours
from targets.lattice.ising import Ising
from targets.lattice.potts import Potts
from targets.models.rbm import RBM
from targets.randomness import derive_seed, normal
from targets.spaces import Binary, Categorical, Discrete, Ordinal
from targets.synthetic.log_quadratic import quadratic_coefficients
from targets.synthetic.tabulated import Tabulated
from targets.target import Target

LARGEST = 1_000
"""Most states of a target; its transition matrix then has a million entries."""

SPACES: dict[str, Discrete] = {
    "binary 2^3": Binary(3),
    "ordinal 3^2": Ordinal(2, 3),
    "ordinal 5^2": Ordinal(2, 5),
    "categorical 3^2": Categorical(2, 3),
}


def targets(arguments: Sequence[str], config: DictConfig) -> dict[str, Target]:
    """The targets in float64, by their names in the report.

    Raises:
        UserError: if the target named cannot be listed, or is too large for it.
    """
    if not any(o.key_or_group.split(".", 1)[0] == "target" for o in parse(arguments)):
        quadratic: dict[str, Target] = {name: log_quadratic(space) for name, space in SPACES.items()}
        return {**quadratic, "RBM 2^3": small_rbm(), "tours 3!": SmallTours(), **small_lattices()}
    target = build_target(config).to(torch.float64)
    name = str(config.target.get("name", config.target._target_))
    if not isinstance(target.space, Discrete):
        raise UserError(f"target={name} has no states to enumerate: its space is {target.space}.")
    if target.space.size > LARGEST:
        raise UserError(
            f"target={name} has {target.space.size:,} states, too many to enumerate: give it a smaller "
            f"space, of at most {LARGEST:,} states."
        )
    return {name: target}


def log_quadratic(space: Discrete, seed: int = 3, roughness: float = 1.0) -> Tabulated:
    """U = x'Wx + b'x with normal W and b, and its gradient 2Wx + b; x is the state, flattened.

    Args:
        space: at most a few thousand states.
        seed: of the coefficients.
        roughness: as in `targets.synthetic.log_quadratic.LogQuadratic`.
    """
    weight, bias = quadratic_coefficients(space, seed, roughness)
    states = space.states().flatten(1)
    log_prob = ((states @ weight) * states).sum(-1) + states @ bias
    grad = 2 * states @ weight + bias
    return Tabulated(space, log_prob, grad.reshape(space.size, *space.event_shape))


def small_lattices() -> dict[str, Target]:
    """Spins of which three interact in a frustrated way, and a Potts model, both with a field."""
    spins = Ising("random", 3, 1.0, field=0.3, disorder="bimodal", degree=2)
    return {"Ising 2^3": spins, "Potts 3^2": Potts("random", 2, 3, 1.0, field=0.4, degree=1)}


def small_rbm(n_visible: int = 3, n_hidden: int = 4, seed: int = 3) -> RBM:
    """A restricted Boltzmann machine with normal weights and biases, in float64.

    Args:
        n_visible: visible units, few enough that the states of a ladder of three can be listed.
        n_hidden: hidden units.
        seed: of weights and biases.
    """
    rbm = RBM(n_visible, n_hidden).requires_grad_(False)
    generator = torch.Generator().manual_seed(derive_seed(seed, "rbm"))
    for parameter, deviation in ((rbm.weight, 2.0), (rbm.hidden_bias, 1.0), (rbm.visible_bias, 1.0)):
        parameter.copy_(deviation * normal(generator, (), tuple(parameter.shape), like=parameter))
    return rbm
