"""What docstrings say of spaces, costs and exactness, which `rungwise list` shows, is what is measured."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import torch

from runner.catalogue.entries import Entry, entry_of
from runner.catalogue.yaml_files import Groups
from runner.tools.exactness.enumerable_targets import SPACES, log_quadratic, small_rbm
from runner.tools.exactness.kernel_variants import variants
from runner.tools.exactness.small_tours import SmallTours
from samplers.kernel import Kernel
from samplers.trial.step_trial import try_step
from samplers.tuning.tunable import fixed
from targets.lattice.ising import Ising
from targets.randomness import Streams
from targets.spaces import Discrete
from targets.synthetic.gaussian_mixture import GaussianMixture
from targets.target import Target

CONF = Groups(Path(__file__).parents[2] / "conf")
KINDS = ("binary", "ordinal", "categorical", "real", "tours")
OTHER = {
    "RBMs": ["RBM"],
    "models with a reference sample": ["RBM"],
    "models with interactions in pairs": ["Ising"],
    "targets with exact draws": ["binary", "ordinal", "categorical", "real", "tours"],
}
"""What is served that is no kind of space: the small targets that have it."""


def targets() -> dict[str, Target]:
    """A small target of each kind of space, in float64."""
    found: dict[str, Target] = {name.split()[0]: log_quadratic(space) for name, space in SPACES.items()}
    real = GaussianMixture([[0.0, 0.0], [1.0, 1.0]]).to(torch.float64)
    models = {"RBM": small_rbm().to(torch.float64), "Ising": Ising("random", 3, degree=2)}
    return {**found, "real": real, "tours": SmallTours(), **models}


@cache
def kernels() -> dict[str, Kernel]:
    """A kernel of each name in conf/sampler, with hyperparameters that are small enough for the targets."""
    found: dict[str, Kernel] = {}
    for variant in variants([]):
        name = variant.name.split(",")[0].split(" ")[0]
        found.setdefault(name, fixed(variant.sampler).to(torch.zeros((), dtype=torch.float64)))
    return found


def served(kernel: Kernel) -> list[str]:
    """The kinds of small targets that `kernel` does not refuse."""
    found = []
    for name, target in targets().items():
        try:
            kernel.check(target)
        except ValueError:
            continue
        found.append(name)
    return found


def evaluations(kernel: Kernel, target: Target) -> int:
    """Evaluations of the target in a step."""
    streams, one = Streams([0], "facts"), torch.ones((), dtype=torch.float64)
    theta = target.initial((*kernel.axes, 1, 2), streams)
    _, info = kernel.step(target, kernel.start(target, theta, one, streams), one, streams)
    return info.evaluations


def said(entry: Entry, target: Target, kernel: Kernel) -> int:
    """Evaluations in a step as the docstring has them."""
    cost = entry.facts["Cost"]
    replicas = kernel.axes[0] if cost.startswith("for each replica, ") else 1
    inner = getattr(kernel, "base", kernel)
    if "level of a coordinate" in cost or "state of the ball" in cost or "state of the block" in cost:
        assert isinstance(target.space, Discrete)
        # A ball of radius 1 around a state of d coordinates; block Gibbs has one coordinate.
        coordinates = min(getattr(inner, "block_size", 1), target.space.d) if "ball" in cost else 1
        return replicas * (1 + coordinates * (target.space.levels - 1))
    each = {"no evaluation": 0, "two gradients": 2}.get(cost, 1)
    return each * replicas


@pytest.mark.parametrize("name", CONF.names("sampler"))
def test_spaces_costs_and_exactness_are_as_the_docstring_says(name: str) -> None:
    entry, kernel = entry_of(CONF, "sampler", name), kernels()[name]
    assert entry.exact == kernel.exact
    kinds = entry.facts["Spaces"]
    listed = OTHER.get(kinds) or [kind for kind in KINDS if kind in kinds.split(", ")]
    found = served(kernel)
    # RBMs and the Ising model are binary; a walk of whole steps refuses the small ordinal grid, where its
    # step is below 1.
    assert set(listed) - set(found) <= ({"ordinal"} if name == "random_walk" else set())
    assert set(found) - set(listed) <= ({"RBM", "Ising"} if "binary" in listed else set())
    assert ("gradient" in entry.facts["Cost"]) == kernel.needs_gradient
    for kind in found:
        if name != "ground_truth_draws":  # its draws come with a trained model
            target = targets()[kind]
            assert evaluations(kernel, target) == said(entry, target, kernel), kind


@pytest.mark.parametrize("name", sorted(set(CONF.names("sampler")) - {"ground_truth_draws"}))
def test_each_passes_the_trial_that_counts_its_evaluations(name: str) -> None:
    kernel, one = kernels()[name], torch.ones((), dtype=torch.float64)
    for kind in served(kernel):
        target = targets()[kind]
        for tried in (kernel, kernel.prepared(target, one)):
            try_step(tried, target, target.initial((*tried.axes, 1, 2), Streams([0], "facts")), one)
