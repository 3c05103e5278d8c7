"""ACS: its cycle, and the stages of its tuning one by one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence

import pytest
import torch

from metrics.enumeration.transition_matrix import invariance_error, tempered_probabilities, transition_matrix
from samplers import ACS, DMALA, State
from samplers.proposals.cyclical_langevin import CyclicalLangevin, cosine_steps
from samplers.proposals.tabulated_langevin import TabulatedLangevin
from samplers.tuning.balancing import mean_squared_jump
from samplers.tuning.pilots import acs_cycle
from samplers.tuning.pilots.acs_cycle import Aims
from targets import (
    Binary,
    Categorical,
    Discrete,
    FunctionTarget,
    MixtureOfGaussians,
    MixtureOfStudentT,
    Ordinal,
    Target,
)
from targets.randomness import Generator
from tests.support.steps.stepping import counted, seeded
from tests.support.targets.small_targets import SPACES, random_target
from tests.support.tunable import piloted, tunable

BETA = torch.ones((), dtype=torch.float64)
AIMS = Aims(acceptance=0.5, balancing_max=0.95, zeta=0.5)


def acs(scale: float = 1.0) -> ACS:
    return ACS(cycle_length=4, step_size=8 * scale, min_step_size=scale, balancing=[0.9, 0.8, 0.7, 0.6])


def at(position: int) -> dict[str, torch.Tensor]:
    return {"position": torch.tensor(position)}


def test_one_whole_cycle_leaves_the_target_invariant_and_is_no_constant_kernel() -> None:
    target = random_target(SPACES["ordinal"], seed=1)
    matrices = [transition_matrix(acs(), target, 1.0, at(position)) for position in range(4)]
    cycle = torch.linalg.multi_dot(matrices)
    assert invariance_error(cycle, tempered_probabilities(target)) <= 1e-12
    assert float((matrices[0] - matrices[3]).abs().max()) > 0.01


def test_every_position_is_dmala_with_its_step_size_and_balancing() -> None:
    target = random_target(SPACES["categorical"], seed=1)
    sizes = cosine_steps(8.0, 1.0, 4)
    for position, balancing in enumerate((0.9, 0.8, 0.7, 0.6)):
        single = transition_matrix(DMALA(sizes[position], balancing), target, 0.7)
        assert torch.allclose(transition_matrix(acs(), target, 0.7, at(position)), single, atol=1e-14)


def test_the_position_goes_round() -> None:
    target, generator = random_target(SPACES["ordinal"]), seeded(0)
    state = acs().init(target, target.initial((3, 5), generator), BETA)
    for step in range(9):
        assert int(state.aux["position"]) == step % 4
        state, _ = acs().step(target, state, BETA, generator)


def test_a_cycle_without_variation_is_looked_up_in_tables_of_the_same_transitions() -> None:
    target = random_target(SPACES["ordinal"], seed=1)
    flat = ACS(cycle_length=4, step_size=3.0, min_step_size=3.0, balancing=[0.9, 0.8, 0.7, 0.6])
    for beta in (1.0, 0.7):
        tables = flat.prepared(target, beta * BETA)
        assert isinstance(tables, ACS)
        assert isinstance(tables.proposal, TabulatedLangevin)
        for position in (0, 3):
            expected = transition_matrix(flat, target, beta, at(position))
            found = transition_matrix(tables, target, beta, at(position))
            assert torch.allclose(found, expected, rtol=0, atol=1e-14)
    state = tables.init(target, target.initial((3, 5), seeded()), 0.7 * BETA)
    assert int(tables.step(target, state, 0.7 * BETA, seeded())[0].aux["position"]) == 1


def test_a_cycle_that_varies_is_computed() -> None:
    target = random_target(SPACES["ordinal"], seed=1)
    for varied in (acs(), ACS(4, 3.0, 3.0 - 1e-9, [0.5, 0.6, 0.5, 0.5])):
        assert varied.prepared(target, BETA) is varied


def test_the_schedule_is_a_cosine_with_a_floor() -> None:
    sizes = cosine_steps(8.0, 1.0, 4)
    assert sizes == pytest.approx([8.0, 4 + 4 / math.sqrt(2), 4.0, 4 - 4 / math.sqrt(2)])
    assert cosine_steps(8.0, 3.0, 4)[-1] == 3.0
    floored = ACS(cycle_length=4, step_size=8.0, min_step_size=3.0, balancing=0.9).proposal
    assert isinstance(floored, CyclicalLangevin)
    assert floored.step_sizes.tolist() == cosine_steps(8.0, 3.0, 4)
    assert floored.balancings.tolist() == [0.9, 0.9, 0.9, 0.5]


@pytest.mark.parametrize(
    ("steps", "cycles", "cycle_length", "expected"),
    [(2000, 10, None, 200), (2000, 3, None, 666), (15, 10, None, 2), (None, 10, 20, 20), (2000, 10, 20, 20)],
)
def test_length_of_a_cycle(steps: int | None, cycles: int, cycle_length: int | None, expected: int) -> None:
    sampler = tunable(ACS, steps=steps, cycles=cycles, cycle_length=cycle_length)
    assert isinstance(sampler.example, ACS)
    assert sampler.example.cycle_length == expected


@pytest.mark.parametrize("target", [MixtureOfGaussians(8), MixtureOfStudentT(8)], ids=["mog", "mos"])
def test_the_floor_is_accepted_as_often_as_wanted_on_a_grid(target: MixtureOfGaussians) -> None:
    target = target.to(torch.float64)
    sampler = tunable(ACS, steps=200)
    result = sampler.tune(target, seeded(0))
    found = result.hyperparameters
    assert json.loads(json.dumps([found, result.report])) == [found, result.report]
    assert all(math.isfinite(found[key]) and found[key] > 0 for key in ("step_size", "min_step_size"))
    assert found["step_size"] >= found["min_step_size"]
    assert len(found["balancing"]) == 20
    generator = seeded(1)
    start = target.sample((1, 1, 1000), generator)
    floor = DMALA(found["min_step_size"])
    seen = piloted(lambda run: mean_squared_jump(run, floor, lambda: start, 60), target, generator)
    assert float(seen.acceptance) == pytest.approx(0.5, abs=0.1)
    maximum = DMALA(result.report["maximum"]["step_size"], balancing=0.95)
    seen = piloted(lambda run: mean_squared_jump(run, maximum, lambda: start, 60), target, generator)
    assert float(seen.acceptance) == pytest.approx(0.5, abs=0.1)
    kernel = sampler.kernel_at(found)
    assert isinstance(kernel, ACS)
    assert kernel.cycle_length == 20


@pytest.mark.parametrize("space", [Binary(3), Categorical(2, 3)], ids=str)
def test_tuning_on_binary_and_one_hot_states(space: Discrete) -> None:
    target = random_target(space, seed=1, roughness=2.0)
    found = tunable(ACS, cycle_length=8).tune(target, seeded(0)).hyperparameters
    sizes = cosine_steps(found["step_size"], found["min_step_size"], 8)
    above = sum(size > found["min_step_size"] for size in sizes)
    assert found["balancing"][above:] == [0.5] * (8 - above)
    # The step sizes fall, and the balancing constants with them.
    assert found["balancing"] == sorted(found["balancing"], reverse=True)
    assert 0.5 <= min(found["balancing"]) <= max(found["balancing"]) <= 0.95


def test_what_tuning_costs_is_counted() -> None:
    target = random_target(Binary(3), seed=1)
    with counted(target) as asked:
        found = tunable(ACS, cycle_length=8).tune(target, seeded(0))
    # The one evaluation of the start comes on top.
    assert sum(asked) == (found.evaluations + 1) * 256


def test_what_is_given_is_not_tuned() -> None:
    target, generator = random_target(Binary(3), seed=1), seeded(0)
    assert tunable(ACS, cycle_length=4, step_size=0.6).open == ("min_step_size", "balancing")
    result = tunable(ACS, cycle_length=4, step_size=0.06).tune(target, generator)
    frozen = result.hyperparameters
    assert frozen["step_size"] == frozen["min_step_size"] == 0.06
    assert result.report["flat"]
    given = tunable(ACS, cycle_length=4, min_step_size=90.0, balancing=0.8)
    floored = given.tune(target, generator).hyperparameters
    assert floored["step_size"] == floored["min_step_size"] == 90.0
    assert floored["balancing"] == [0.8] * 4


def script(monkeypatch: pytest.MonkeyPatch, accept: Callable[[float, float], float]) -> list[list[float]]:
    """Lets `accept(step size, balancing)` stand for one step of the chains; returns what was tried."""
    tried: list[list[float]] = []

    def try_steps(
        target: Target,
        state: State,
        sizes: Sequence[float],
        balancings: Sequence[float],
        generator: Generator,
    ) -> tuple[list[float], State]:
        tried.append(list(sizes) if len(set(balancings)) == 1 else list(balancings))
        same = State(*(x.expand(len(sizes), *x.shape) for x in (state.theta, state.log_prob, state.theta)))
        return [accept(a, b) for a, b in zip(sizes, balancings, strict=True)], same

    monkeypatch.setattr(acs_cycle, "try_steps", try_steps)
    return tried


def somewhere(target: Target) -> State:
    theta = target.initial((2,), torch.Generator())
    return State(theta, target.log_prob(theta), theta)


def balancings(target: Target, sizes: list[float]) -> tuple[list[float], int]:
    state = somewhere(target)
    return piloted(lambda run: acs_cycle.find_balancings(run, state, sizes, AIMS), target, seeded(0))


def test_the_floor_is_the_best_tried_not_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """The acceptance is nearest to 0.5 at the largest candidate of the tenth round, and 0.9 in all others."""
    target, count = random_target(Binary(3)), iter(range(1, 101))
    tried = script(monkeypatch, lambda a, b: 0.49 if next(count) == 40 else 0.9)
    state = somewhere(target)
    found = piloted(lambda run: acs_cycle.find_floor(run, Binary(3), state, AIMS), target, seeded(0))
    assert found.step_size == tried[9][3] < tried[-1][0]
    assert found.acceptance == 0.49
    assert found.evaluations == 4 * len(tried) == 100
    assert tried[0] == pytest.approx([0.05 * (1 + 0.25 * i / 3) for i in range(4)])


def test_the_floor_is_searched_for_where_nothing_moves_at_first() -> None:
    """Four strongly bound bits at alpha = 0.05 stay where they are; the search must not stay there."""
    target = random_target(Binary(3), seed=1)
    target.weight.mul_(0.0)
    target.bias.fill_(-3.0)
    result = tunable(ACS, cycle_length=4).tune(target, seeded(0))
    assert result.hyperparameters["min_step_size"] > 1.0


def test_the_maximum_is_the_first_from_above(monkeypatch: pytest.MonkeyPatch) -> None:
    target = random_target(Ordinal(2, 11))
    tried = script(monkeypatch, lambda a, b: 0.495 if a < 60 else 0.1)
    state = somewhere(target)
    found = piloted(
        lambda run: acs_cycle.find_maximum(run, state=state, space=Ordinal(2, 11), aims=AIMS),
        target,
        seeded(0),
    )
    assert tried[0] == [375.0, 500.0]
    assert 48 <= found.step_size < 60
    assert found.acceptance == 0.495
    assert found.evaluations == 2 * len(tried)


def test_balancing_constants_climb_with_the_step_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Acceptance peaks at b = 0.5 + 0.05 alpha: the search follows, and ends on a line to beta_max."""
    target = random_target(Binary(3))
    tried = script(monkeypatch, lambda a, b: -abs(b - 0.5 - 0.05 * a))
    sizes = [12.0, 10.0, 8.0, 6.0, 4.0, 2.0, 1.0]
    found, spent = balancings(target, sizes)
    assert tried[0] == [0.5, 0.55, 0.6]
    assert len(tried[1]) == 10
    assert spent == sum(map(len, tried))
    assert found == pytest.approx([0.95, 0.925, 0.9, 0.8, 0.7, 0.6, 0.55], abs=0.02)
    assert found[:3] == pytest.approx([0.95, (found[2] + 0.95) / 2, found[2]])


def test_long_cycles_are_tuned_at_twenty_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    target = random_target(Binary(3))
    tried = script(monkeypatch, lambda a, b: -abs(b - 0.5 - 0.0003 * a))
    sizes = [float(size) for size in range(1000, 0, -1)]
    found, _ = balancings(target, sizes)
    assert len(tried) == 20
    assert found == pytest.approx([0.5 + 0.0003 * size for size in sizes], abs=0.02)
    assert balancings(target, []) == ([], 0)


def test_each_candidate_starts_from_the_same_state() -> None:
    """A step of (nearly) nothing stays, a large one moves; the states come back in the candidates' order."""
    target, generator = random_target(Ordinal(2, 5)), seeded(0)
    state = DMALA(1.0).init(target, target.initial((1, 500), generator), BETA)
    seen, states = acs_cycle.try_steps(target, state, [1e-3, 9.0], [0.5, 0.5], generator)
    assert seen[0] == pytest.approx(1.0)
    assert torch.equal(acs_cycle.take(states, 0).theta, state.theta)
    assert not torch.equal(acs_cycle.take(states, 1).theta, state.theta)


class Misled(FunctionTarget):
    """Starts at zero."""

    def __init__(self) -> None:
        super().__init__(lambda theta: 1e6 * (theta - 2.0 * theta.square()).sum(-1), Binary(3))

    def initial(self, shape: Sequence[int], generator: Generator) -> torch.Tensor:
        return torch.zeros((*shape, 3))


def test_searches_that_miss_the_wanted_acceptance_are_said() -> None:
    """At zero the gradient says that a move is up, and it is down; all coordinates move at once."""
    report = tunable(ACS, cycle_length=4).tune(Misled(), seeded(0)).report
    floor, largest = report["warnings"]
    assert floor.startswith("no min step size from 0.05 to ")
    assert floor.endswith("; give sampler.min_step_size, or a lower sampler.target_acceptance")
    assert "is accepted with probability 0.5 with balancing 0.5: at " in floor
    assert largest.startswith("no step size from ")
    assert largest.endswith("; give sampler.step_size, or a lower sampler.target_acceptance")
    assert " to 5 is accepted with probability 0.5 with balancing 0.95: at " in largest
    assert report["reached_acceptance"] == [pytest.approx(0.0, abs=0.05)] * 2


def test_searches_that_end_on_the_way_are_said() -> None:
    target, slow = random_target(Binary(6)), {"cycle_length": 4, "zeta": 0.01}
    (floor,) = tunable(ACS, step_size=5.0, **slow).tune(target, seeded(0)).report["warnings"]
    assert floor.startswith("no min step size from 0.05 to 0.05")
    assert floor.endswith("give sampler.min_step_size, or a larger sampler.zeta")
    for found in (MixtureOfGaussians(8), target):
        assert "warnings" not in tunable(ACS, cycle_length=4).tune(found, seeded(0)).report
