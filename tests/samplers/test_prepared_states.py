"""A prepared kernel serves one target, and no state with the caches of another; both are errors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from runner.files.checkpoint import from_plain, to_plain
from samplers import ACS, DLMC, DMALA, EDMALA, PAS, Gibbs, Kernel, LocallyBalanced, ParallelTempering, State
from samplers.compiling.counter_streams import CounterStreams
from samplers.discrete.released_dmala import ReleasedDMALA
from samplers.seed_blocks import in_seed_blocks
from samplers.stepper import Stepper
from targets import RBM, Ising, Streams, Target
from tests.support.steps.no_host_sync import NoHostSync
from tests.support.steps.stepping import ONE, seeded
from tests.support.targets.small_targets import SPACES, random_target

CACHING: dict[str, Callable[[float], Kernel]] = {
    "dmala": DMALA,
    "dlmc": DLMC,
    "pas": lambda size: PAS(1.0 + size),
    "locally_balanced": lambda size: LocallyBalanced("barker" if size < 1.0 else "sqrt", sites=3),
    "edmala": lambda size: EDMALA(size, 2.0, 0.1),
}
LATTICE = Ising(size=6, coupling=0.5, field=0.2)
ORDINAL = random_target(SPACES["ordinal"])
KERNELS: dict[str, tuple[Kernel, Target]] = {
    **{name: (make(0.5), LATTICE) for name, make in CACHING.items()},
    "tables": (DMALA(1.0), ORDINAL),
    "acs": (ACS(4, 2.0, 2.0, 0.5), ORDINAL),
    "released": (ReleasedDMALA(1.0), ORDINAL),
    "ladder": (ParallelTempering(DMALA(1.0), [1.0, 0.5]), ORDINAL),
}
OTHER_TARGET = (
    r"^target must be the one that the kernel was prepared for, another \(a \w+\) was given; prepare"
)
OTHER_STATE = r"^state must be one of this prepared kernel, one of another was given; kernel\.refreshed\("


def chains(kernel: Kernel, target: Target) -> State:
    """60 chains of each of two seeds."""
    return kernel.init(target, target.initial((*kernel.axes, 2, 60), Streams([0, 1], "start")), ONE)


def stepped(kernel: Kernel, target: Target, state: State) -> State:
    return kernel.step(target, state, ONE, Streams([0, 1], "chain"))[0]


def another(target: Target) -> Target:
    """One of the same space and the same size."""
    return Ising(size=6, coupling=-0.3) if target is LATTICE else random_target(SPACES["ordinal"], seed=5)


@pytest.mark.parametrize("name", KERNELS)
def test_another_target_is_refused(name: str) -> None:
    plain, target = KERNELS[name]
    kernel = plain.prepared(target, ONE)
    assert kernel is not plain
    state = chains(kernel, target)
    stepped(kernel, target, state)
    for wrong in (another(target), copy.deepcopy(target)):
        with pytest.raises(ValueError, match=OTHER_TARGET):
            stepped(kernel, wrong, state)
        with pytest.raises(ValueError, match=OTHER_TARGET):
            chains(kernel, wrong)
    assert stepped(plain, another(target), state).theta.shape == state.theta.shape


@pytest.mark.parametrize("name", CACHING)
def test_the_caches_of_another_prepared_kernel_are_refused(name: str) -> None:
    """Another step size or balancing function, another temperature, another target."""
    make, other, hot = CACHING[name], another(LATTICE), 0.3 * ONE
    kernel = make(0.5).prepared(LATTICE, ONE)
    kernels = [(make(1.5).prepared(LATTICE, ONE), LATTICE), (make(0.5).prepared(other, ONE), other)]
    states = [chains(*each) for each in kernels]
    theta = LATTICE.initial((2, 60), Streams([0, 1], "start"))
    states.append(make(0.5).prepared(LATTICE, hot).init(LATTICE, theta, hot))
    own = stepped(kernel, LATTICE, chains(kernel, LATTICE))
    for state in states:
        for foreign in (state, copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            with pytest.raises(ValueError, match=OTHER_STATE):
                stepped(kernel, LATTICE, foreign)
        again = stepped(kernel, LATTICE, kernel.refreshed(LATTICE, state, ONE))
        assert torch.equal(again.theta, own.theta)


@pytest.mark.parametrize("name", CACHING)
def test_a_plain_kernel_leaves_no_stale_cache(name: str) -> None:
    """One that passes the auxiliaries of a state on, such as Gibbs."""
    kernel = CACHING[name](0.5).prepared(LATTICE, ONE)
    between = stepped(Gibbs(), LATTICE, chains(kernel, LATTICE))
    expected = stepped(kernel, LATTICE, kernel.init(LATTICE, between.theta, ONE))
    fresh = CACHING[name](0.5).init(LATTICE, between.theta, ONE)
    found = stepped(kernel, LATTICE, replace(between, grad=fresh.grad, aux={**between.aux, **fresh.aux}))
    assert torch.equal(found.theta, expected.theta)


@pytest.mark.parametrize("name", KERNELS)
def test_copies_that_are_the_same_target_or_kernel_are_served(name: str) -> None:
    plain, target = KERNELS[name]
    kernel = plain.prepared(target, ONE)
    state = chains(kernel, target)
    expected = stepped(kernel, target, state).theta
    assert torch.equal(stepped(kernel, copy.copy(target), state).theta, expected)
    copied = copy.deepcopy(kernel)
    assert torch.equal(stepped(copied, target, copy.deepcopy(state)).theta, expected)
    with pytest.raises(ValueError, match=OTHER_TARGET):
        stepped(copied, another(target), state)
    if name != "ladder":  # which holds a function of its own
        both = pickle.loads(pickle.dumps((kernel, target, state)))
        assert torch.equal(stepped(*both).theta, expected)
    single = kernel.to(ONE.float())
    small = copy.deepcopy(target).float()
    theta = small.initial((*kernel.axes, 5), seeded())
    assert single.init(small, theta, ONE.float()).log_prob.dtype == torch.float32


def test_seeds_that_are_computed_one_by_one_are_of_the_same_target() -> None:
    rbm = RBM(6, 4)
    blocks = in_seed_blocks(rbm, 2)
    assert blocks is not rbm
    kernel = DMALA(0.5).prepared(rbm, ONE)
    assert stepped(kernel, blocks, chains(kernel, blocks)).theta.shape == (2, 60, 6)


@pytest.mark.parametrize("name", CACHING)
def test_a_checkpoint_has_the_caches_and_not_whose_they_are(name: str) -> None:
    """So that a run is taken up by its kernel, prepared anew in another process."""
    kernel, again = (CACHING[name](0.5).prepared(LATTICE, ONE) for _ in range(2))
    state = stepped(kernel, LATTICE, chains(kernel, LATTICE))
    saved = to_plain(state)
    assert set(saved) == {"theta", "log_prob", "grad", "aux"}
    restored = from_plain(chains(again, LATTICE), saved)
    assert torch.equal(stepped(again, LATTICE, restored).theta, stepped(kernel, LATTICE, state).theta)


@pytest.mark.parametrize("name", ["dmala", "pas", "edmala"])
def test_a_traced_step_refuses_the_caches_of_another_kernel(name: str) -> None:
    kernel, other = (CACHING[name](0.5).prepared(LATTICE, ONE) for _ in range(2))
    state = chains(kernel, LATTICE)
    step = Stepper(kernel, LATTICE, ONE, CounterStreams([0, 1], "chain")).trace(state)
    step(step(state)[0])
    with pytest.raises(ValueError, match=OTHER_STATE):
        step(chains(other, LATTICE))


@pytest.mark.parametrize("name", CACHING)
def test_to_know_them_waits_for_no_device(name: str) -> None:
    kernel = CACHING[name](0.5).prepared(LATTICE, ONE)
    state = stepped(kernel, LATTICE, chains(kernel, LATTICE))  # beta is known from then on
    with NoHostSync():
        stepped(kernel, LATTICE, state)


def test_weights_without_a_mark_are_computed_anew() -> None:
    """Of a state that somebody has put together."""
    kernel = DMALA(0.5).prepared(LATTICE, ONE)
    state = chains(kernel, LATTICE)

    def wrong(value: Tensor) -> Tensor:
        return value + 1.0

    made = State(state.theta, state.log_prob, state.grad, {name: wrong(x) for name, x in state.aux.items()})
    assert torch.equal(stepped(kernel, LATTICE, made).theta, stepped(kernel, LATTICE, state).theta)
