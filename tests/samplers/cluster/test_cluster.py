"""What cluster algorithms are made of and refuse; that they are exact is tested with all other samplers."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

import networkx
import pytest
import torch

from metrics.enumeration.transition_matrix import tempered_probabilities
from samplers import Kernel, SwendsenWang, Wolff
from samplers.cluster.components import components, hooked_components
from samplers.kernel import NotEnumerableError
from targets import Bernoulli4, Binary, Discrete, Ising, Ordinal, Potts, Real, Target
from targets.exact_moments import energy_moments
from targets.function_target import FunctionTarget
from targets.target import PairwiseTerms
from tests.support.checks import invariance
from tests.support.steps.no_host_sync import NoHostSync
from tests.support.steps.stepping import ONE, seeded, started, walked


def path_and_star(sites: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Edges of all pairs, and three graphs: one long path in a bad order, a star around the last, no edge."""
    edges = torch.tensor(list(itertools.combinations(range(sites), 2)))
    order = torch.randperm(sites, generator=seeded(3))
    path = {tuple(sorted(pair)) for pair in itertools.pairwise(order.tolist())}
    star = {(site, sites - 1) for site in range(sites - 1)}
    graphs = [[tuple(edge) in graph for edge in edges.tolist()] for graph in (path, star, set())]
    return edges, torch.tensor(graphs)


@pytest.mark.parametrize("sites", [2, 3, 17, 40])
def test_components_are_those_of_networkx(sites: int) -> None:
    edges, shaped = path_and_star(sites)
    random = torch.rand((40, len(edges)), generator=seeded(sites)) < 1.0 / sites
    active = torch.cat([shaped, random])
    wanted = []
    for graph in active:
        found = networkx.Graph(edges[graph].tolist())
        found.add_nodes_from(range(sites))
        labels = {site: min(part) for part in networkx.connected_components(found) for site in part}
        wanted.append([labels[site] for site in range(sites)])
    assert components(edges, active, sites).tolist() == wanted
    with NoHostSync():
        hooked = hooked_components(edges, active, sites)
    assert hooked.tolist() == wanted
    boxed = components(edges, active.reshape(1, -1, 1, len(edges)), sites)
    assert boxed.shape == (1, len(active), 1, sites)


def test_antiferromagnetic_potts_models_are_served_by_two_colours() -> None:
    target = Potts("random", 3, 3, -0.9, field=0.4, degree=2)
    for kernel in (SwendsenWang("two"), Wolff()):
        for beta in (1.0, 0.3):
            assert invariance(kernel, target, beta) <= 1e-12
    with pytest.raises(
        ValueError, match=r"^colours must be 'two' for Potts, some of whose couplings are neg"
    ):
        SwendsenWang().check(target)


def test_one_pair_of_spins_steps_as_in_closed_form() -> None:
    """Two equal spins become a bond with probability p = 1 - e^(-2 beta J), J s s' being 2 J 1{s = s'}."""
    target, beta = Ising("random", 2, 0.7, degree=1), torch.tensor(0.6, dtype=torch.float64)
    bond = 1.0 - math.exp(-2 * 0.6 * 0.7)
    state = SwendsenWang().init(target, target.space.states(), beta)
    to = torch.tensor([1.0, 1.0], dtype=torch.float64).expand(4, 2)
    both = SwendsenWang().log_transition(target, state, to, beta).exp()
    one = Wolff().log_transition(target, state, to, beta).exp()
    quarter = 0.25 * (1.0 - bond)
    assert both.tolist() == pytest.approx([0.5 * bond + quarter, 0.25, 0.25, 0.5 * bond + quarter])
    assert one.tolist() == pytest.approx([bond, 0.5, 0.5, 0.0], abs=1e-15)


@pytest.mark.parametrize("kernel", [SwendsenWang(), Wolff()], ids=["swendsen_wang", "wolff"])
def test_energy_of_a_small_lattice_is_the_exact_one(kernel: Kernel) -> None:
    """4 x 4 spins near the transition, 4,000 chains: the mean energy within 5 standard errors."""
    target = Ising(size=4, coupling=0.44, field=0.1)
    states = target.space.states()
    log_prob = target.log_prob(states)
    wanted = float((log_prob.softmax(0) * log_prob).sum())
    state, _ = walked(kernel, target, started(kernel, target, (4_000,), seeded()), 60, seeded(1), ONE)
    error = float(state.log_prob.std()) / math.sqrt(4_000)
    assert abs(float(state.log_prob.mean()) - wanted) <= 5 * error


def test_targets_without_pairs_are_refused() -> None:
    with pytest.raises(
        ValueError, match="needs a target whose coordinates interact in pairs, such as ising or"
    ):
        Wolff().check(Bernoulli4())
    real = FunctionTarget(lambda theta: -theta.square().sum(-1), Real(2))
    with pytest.raises(
        ValueError, match=re.escape("SwendsenWang needs a binary, ordinal or categorical space")
    ):
        SwendsenWang().check(real)
    large = Ising(size=4)
    state = Wolff().init(large, torch.zeros((1, 16), dtype=torch.float64), ONE)
    with pytest.raises(NotEnumerableError, match=r"^32 edges are too many to list their bonds$"):
        Wolff().log_transition(large, state, state.theta, ONE)


@pytest.mark.slow
@pytest.mark.parametrize("coupling", [0.35, 0.4407, 0.5])
@pytest.mark.parametrize("name", ["swendsen_wang", "wolff"])
def test_energy_of_a_large_lattice_is_kaufmans(name: str, coupling: float) -> None:
    """32 x 32 spins on both sides of the transition and at it, 64 chains: within 4 standard errors."""
    target = Ising(size=32, coupling=coupling)
    wanted, _ = energy_moments(target)
    kernel, steps = (SwendsenWang(), 60) if name == "swendsen_wang" else (Wolff(), 300)
    generator = seeded(1)
    state, _ = walked(kernel, target, started(kernel, target, (64,), generator), steps, generator)
    total = torch.zeros_like(state.log_prob)
    for _ in range(steps):
        state, _ = walked(kernel, target, state, 1, generator)
        total += state.log_prob / steps
    error = float(total.std()) / math.sqrt(64)
    assert abs(float(total.mean()) - wanted) <= 4 * error
    # Not a test that any energy passes: the standard error is small beside the energy.
    assert error <= 0.01 * wanted


class Pairs(Target):
    """Coordinates in a row with couplings of 1, and a field that forbids one level to the first of them."""

    def __init__(self, space: Discrete, forbidden: int, edges: Sequence[tuple[int, int]]) -> None:
        super().__init__()
        self.space, self.constrained = space, True
        field = torch.zeros(space.d, space.levels, dtype=torch.float64)
        field[0, forbidden] = -torch.inf
        ends = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2)
        self.terms = PairwiseTerms(ends, torch.ones(len(edges)).double(), field, torch.zeros(()).double())

    def pairwise_terms(self) -> PairwiseTerms:
        return self.terms

    def log_prob(self, theta: torch.Tensor) -> torch.Tensor:
        levels, (one, other) = self.space.to_levels(theta), self.terms.edges.unbind(-1)
        agree = (levels[..., one] == levels[..., other]).double().sum(-1)
        field = self.terms.field.expand(*levels.shape, -1).gather(-1, levels.unsqueeze(-1))
        return agree + field.squeeze(-1).sum(-1)


@pytest.mark.parametrize("beta", [1.0, 0.4, 0.0])
@pytest.mark.parametrize("kernel", [SwendsenWang(), Wolff()])
def test_a_forbidden_level_is_left_alone(kernel: Kernel, beta: float) -> None:
    """As of a boundary spin that is held; such fields are minus infinity, of which 0 times is NaN."""
    rows = [(0, 1), (1, 2), (2, 3)]
    for target in (Pairs(Binary(4), 0, rows), Pairs(Ordinal(3, 3), 2, rows[:2])):
        top = float(target.space.levels - 2) if target.space.levels > 2 else 1.0
        theta = torch.full((1, 2000, target.space.d), top, dtype=torch.float64)
        one = torch.as_tensor(beta, dtype=torch.float64)
        state, info = walked(kernel, target, kernel.init(target, theta, one), 60, seeded(2), beta=one)
        assert bool(info.acceptance.isfinite().all())
        assert bool(state.log_prob.isfinite().all())
        counts = torch.bincount(target.space.index(state.theta).flatten(), minlength=target.space.size)
        wanted = tempered_probabilities(target, beta)
        assert 0.5 * (counts / 2000 - wanted).abs().sum() < 0.06


def test_a_graph_without_edges_is_enumerated() -> None:
    target = Pairs(Binary(2), 0, [])
    target.terms.field.copy_(torch.tensor([[0.0, 0.3], [0.5, 0.0]]))
    assert invariance(SwendsenWang(), target, 1.0) <= 1e-12
