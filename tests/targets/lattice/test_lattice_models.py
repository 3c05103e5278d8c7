"""Ising and Potts models against sums over pairs, their neighbours one by one, and their terms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from targets import (
    HasLogPartition,
    HasMagnetisation,
    Ising,
    PairwiseInteractions,
    Potts,
    SingleSiteDifferences,
    Streams,
)
from targets.compiling.tracing import traced
from targets.lattice.geometry import DISORDERS
from targets.lattice.interactions import SparseInteractions, Torus
from tests.support.error_message import error_message

MODELS: dict[str, Callable[[], Ising | Potts]] = {
    "square": lambda: Ising(size=[3, 4], coupling=0.3, field=0.2),
    "two rows": lambda: Ising(size=[2, 5], coupling=0.3),
    "cubic": lambda: Ising("cubic", [3, 2, 2], coupling=-0.4, field=0.1),
    "glass": lambda: Ising(size=3, coupling=0.7, field=-0.1, disorder="gaussian"),
    "cubic glass": lambda: Ising("cubic", [2, 3, 2], coupling=0.7, disorder="bimodal"),
    "graph": lambda: Ising("random", 10, coupling=0.5, field=0.3, degree=3),
    "glass on a graph": lambda: Ising("random", 8, coupling=0.5, disorder="gaussian", degree=3),
    "potts": lambda: Potts(size=[2, 3], q=3, coupling=0.8, field=0.3),
    "potts on a cube": lambda: Potts("cubic", 2, q=2, coupling=0.8),
    "potts on a graph": lambda: Potts("random", 6, q=4, coupling=-0.6, degree=2),
}
every = pytest.mark.parametrize("name", MODELS)


def some_states(target: Ising | Potts) -> torch.Tensor:
    return target.initial((2, 6), Streams([0, 1], "start"))


@every
def test_the_log_density_is_the_sum_over_edges_and_fields(name: str) -> None:
    target = MODELS[name]()
    theta = some_states(target)
    terms, levels = target.pairwise_terms(), target.space.to_levels(theta)
    low, high = terms.edges.unbind(-1)
    agree = (levels[..., low] == levels[..., high]).double()
    field = terms.field[torch.arange(target.space.d), levels].sum(-1)
    expected = terms.constant + agree @ terms.couplings + field
    torch.testing.assert_close(target.log_prob(theta), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in MODELS if "potts" not in name])
def test_the_ising_model_multiplies_the_spins_of_each_edge(name: str) -> None:
    target = MODELS[name]()
    theta = some_states(target)
    spins, (low, high) = 2 * theta - 1, target.interactions.edges.unbind(-1)
    pairs = (spins[..., low] * spins[..., high]) @ target.interactions.strengths()
    expected = pairs + target.field * spins.sum(-1)
    torch.testing.assert_close(target.log_prob(theta), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(target.magnetisation(theta), spins.mean(-1))


def test_the_edges_of_a_lattice_join_each_site_with_its_next_ones() -> None:
    edges = {tuple(edge) for edge in Ising(size=[3, 4]).interactions.edges.tolist()}
    expected = {(4 * x + y, 4 * ((x + 1) % 3) + y) for x in range(3) for y in range(4)}
    expected |= {(4 * x + y, 4 * x + (y + 1) % 4) for x in range(3) for y in range(4)}
    assert edges == expected
    cube = Ising("cubic", 3).interactions.edges
    assert cube.shape == (81, 2)
    assert cube.flatten().bincount().tolist() == [6] * 27


def test_a_random_graph_has_its_degree_and_its_seed() -> None:
    first, again, other = (Ising("random", 20, degree=3, instance_seed=seed) for seed in (0, 0, 1))
    edges = first.interactions.edges
    assert edges.flatten().bincount().tolist() == [3] * 20
    assert (edges[:, 0] < edges[:, 1]).all()
    assert len(edges.unique(dim=0)) == len(edges) == 30
    assert torch.equal(edges, again.interactions.edges)
    assert not torch.equal(edges, other.interactions.edges)


def test_lattices_and_lists_of_their_edges_give_the_same_sums() -> None:
    for sides in ([3, 4], [2, 5], [2, 3, 4]):
        coupling = torch.randn(len(sides), *sides, generator=torch.Generator().manual_seed(1)).double()
        lattice = Torus(sides, coupling)
        graph = SparseInteractions(lattice.d, lattice.edges, lattice.strengths())
        for inner in ((), (3,)):
            values = torch.randn(2, lattice.d, *inner, generator=torch.Generator().manual_seed(2)).double()
            expected = graph.sums(values, len(inner))
            torch.testing.assert_close(lattice.sums(values, len(inner)), expected)
            with traced():
                torch.testing.assert_close(lattice.sums(values, len(inner)), expected)


def test_sums_with_one_coupling_are_the_same_when_traced() -> None:
    for sides in ([2, 2], [2, 7], [3, 2, 4]):
        lattice = Torus(sides, torch.tensor(0.7, dtype=torch.float64))
        values = torch.randn(3, lattice.d, generator=torch.Generator().manual_seed(2)).double()
        expected = lattice.sums(values)
        with traced():
            torch.testing.assert_close(lattice.sums(values), expected)


@pytest.mark.parametrize(
    "target",
    [
        Ising(size=[3, 4], coupling=0.3, field=0.1),
        Ising(size=[2, 3], coupling=-0.3, field=-0.7),
        Ising("cubic", 3, coupling=0.3),
        Ising(size=3, disorder="bimodal", field=0.2),
        Ising("random", 10, degree=3),
        Ising(size=2, coupling=0.0, field=0.4),
    ],
)
def test_the_few_differences_are_those_of_many_states(target: Ising) -> None:
    theta = target.initial((1, 4000), Streams([0], "start"))
    listed = target.flip_differences()
    assert listed is not None
    assert (listed.diff() > 0).all()
    found = target.log_prob_and_differences(theta)[1].unique()
    gaps = (found.unsqueeze(-1) - listed).abs()
    assert gaps.amin(-1).max() < 1e-12
    assert gaps.amin(0).max() < 1e-12


def test_random_couplings_have_no_list_of_differences() -> None:
    assert Ising(size=4, disorder="gaussian").flip_differences() is None


@every
def test_the_gradient_comes_with_the_value(name: str) -> None:
    target = MODELS[name]()
    theta = some_states(target)
    log_prob, grad = target.log_prob_and_grad(theta)
    leaf = theta.clone().requires_grad_(True)
    (expected,) = torch.autograd.grad(target.log_prob(leaf).sum(), leaf)
    torch.testing.assert_close(grad, expected, rtol=0, atol=1e-12)
    assert torch.equal(log_prob, target.log_prob(theta))
    assert not log_prob.requires_grad


@every
def test_differences_are_those_of_the_log_densities_of_all_neighbours(name: str) -> None:
    target = MODELS[name]()
    theta = some_states(target)
    log_prob, differences = target.log_prob_and_differences(theta)
    assert torch.equal(log_prob, target.log_prob(theta))
    assert differences.shape == theta.shape
    space = target.space
    for site in range(space.d):
        for level in range(space.levels):
            levels = space.to_levels(theta)
            if isinstance(target, Ising) and level:
                continue
            levels[..., site] = 1 - levels[..., site] if isinstance(target, Ising) else level
            moved = target.log_prob(space.from_levels(levels, theta.dtype)) - log_prob
            given = differences[..., site] if isinstance(target, Ising) else differences[..., site, level]
            torch.testing.assert_close(given, moved, rtol=0, atol=1e-12)


def test_results_of_a_chain_do_not_depend_on_the_others() -> None:
    for name, build in MODELS.items():
        target = build().to(torch.float32)
        theta = target.initial((1, 33), Streams([0], "start"))
        together = target.log_prob_and_grad(theta)
        for place in (0, 20, 32):
            for whole, alone in zip(
                together, target.log_prob_and_grad(theta[:, place : place + 1]), strict=True
            ):
                assert torch.equal(whole[:, place], alone[:, 0]), name


def test_disorder_has_the_scale_that_is_given() -> None:
    """Standard deviation of 8,192 couplings within 5 standard errors: false alarm 6e-7."""
    gaussian = Ising(size=64, coupling=0.5, disorder="gaussian").interactions.strengths()
    assert abs(float(gaussian.std()) - 0.5) < 5 * 0.5 / (2 * 8192) ** 0.5
    bimodal = Ising(size=64, coupling=0.5, disorder="bimodal").interactions.strengths()
    assert set(bimodal.tolist()) == {-0.5, 0.5}
    assert abs(float(bimodal.mean())) < 5 * 0.5 / 8192**0.5
    assert DISORDERS == ("none", "gaussian", "bimodal")


def test_the_order_parameter_of_colours_is_zero_if_all_are_as_frequent_and_one_if_all_agree() -> None:
    target = Potts(size=[2, 3], q=3)
    levels = torch.tensor([[0, 1, 2, 0, 1, 2], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 2]])
    found = target.magnetisation(target.space.from_levels(levels, torch.float64))
    torch.testing.assert_close(found, torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64))


@every
def test_capabilities_are_recognised(name: str) -> None:
    capabilities = (SingleSiteDifferences, PairwiseInteractions, HasLogPartition, HasMagnetisation)
    assert all(isinstance(MODELS[name](), capability) for capability in capabilities)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"size": 1}, "size must be a whole number of at least 2, 1 was given"),
        ({"size": [4, 1]}, "size must be a whole number of at least 2, 1 was given"),
        (
            {"size": [4, 4, 4]},
            "size must be one whole number or 2 of them for geometry=square, [4, 4, 4] was given",
        ),
        ({"size": "big"}, "size must be one whole number or 2 of them for geometry=square, 'big' was given"),
        (
            {"geometry": "squares"},
            "geometry must be one of cubic, random, square, 'squares' was given; did you mean 'square'?",
        ),
        (
            {"geometry": "random", "size": [4, 4]},
            "size must be a whole number of at least 2, [4, 4] was given",
        ),
        (
            {"geometry": "random", "size": 5, "degree": 3},
            "degree must be below size, and their product even, for a random graph to have it; degree=3 and "
            "size=5 were given",
        ),
        ({"coupling": float("nan")}, "coupling must be a finite number, nan was given"),
        ({"field": "up"}, "field must be a finite number, 'up' was given"),
        ({"instance_seed": -1}, "instance_seed must be a whole number of at least 0, -1 was given"),
    ],
)
def test_what_no_lattice_has_is_refused(given: dict[str, object], sentence: str) -> None:
    assert error_message(ValueError, Ising, **given) == sentence
    assert error_message(ValueError, Potts, **given) == sentence


def test_one_colour_and_unknown_disorder_are_refused() -> None:
    assert error_message(ValueError, Potts, q=1) == "q must be a whole number of at least 2, 1 was given"
    assert "disorder must be one of bimodal, gaussian, none, 'gauss' was given" in error_message(
        ValueError, Ising, disorder="gauss"
    )


def test_a_state_is_loaded_into_a_random_graph_with_one_coupling() -> None:
    model, other = Ising("random", 8, coupling=0.3), Ising("random", 8, coupling=0.5)
    model.load_state_dict(other.state_dict())
    theta = model.space.states()
    assert torch.equal(model.log_prob(theta), other.log_prob(theta))


def test_exact_draws_follow_a_field_that_was_changed_in_place() -> None:
    model, streams = Ising("square", 4, coupling=0.1), Streams([0], "chain")
    model.sample((1, 10), streams)
    model.field.fill_(20.0)
    assert bool((model.sample((1, 10), streams) == 1.0).all())


def test_what_is_too_strong_for_float64_is_refused_and_not_minus_infinity() -> None:
    """Of opposite couplings, each row differs from the one before: after an odd number none is the first."""
    model = Ising("square", [19, 3], coupling=-400.0)
    with pytest.raises(ValueError, match=r"^log Z by transfer matrices needs weaker couplings .* to 0\.0$"):
        model.log_partition()
    narrow = Ising("square", [9, 3], coupling=-400.0)
    with pytest.raises(ValueError, match=r"^an exact draw by transfer matrices needs weaker couplings"):
        narrow.sample((1, 2), Streams([0], "chain"))


def test_sizes_may_be_numbers_of_numpy() -> None:
    assert Ising(size=np.int64(4)).space.d == 16
    assert Ising(size=[np.int64(2), 3]).space.d == 6
    assert Ising("random", np.int64(6), degree=3).space.d == 6
