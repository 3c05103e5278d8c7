"""How long a step on an RBM of 784 visible and 500 hidden units takes, beside its own matrix products."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from runner.tools.bench.baselines.plain_rbm import energy, plain_step
from runner.tools.bench.tempering_round import stepping
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.rbm_gibbs import RBMGibbs
from samplers.kernel import Kernel, along_first
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.swaps.swap_round import SwapMemory
from samplers.tempering.swaps.swap_rules import Rungs
from targets.models.rbm import RBM
from targets.randomness import Streams

CHAINS, STEP_SIZE = 100, 0.2
LADDERS = {4: [1.0, 0.9, 0.8, 0.7], 5: [1.0, 0.9, 0.8, 0.7, 0.6]}


@contextmanager
def thread_count(count: int) -> Iterator[None]:
    """Runs the block on `count` threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def seconds_in_turns(
    calls: Mapping[str, Callable[[], object]], rounds: int, least: float = 0.03
) -> dict[str, float]:
    """The fastest mean of each call, in `rounds` turns of at least `least` seconds each.

    The calls take turns, so that other work on the computer slows all of them, and the turns are
    short, so that some of them are undisturbed.
    """
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        for _ in range(5):
            call()
    for _ in range(rounds):
        for name, call in calls.items():
            count, start = 0, time.perf_counter()
            while time.perf_counter() - start < least:
                call()
                count += 1
            best[name] = min(best[name], (time.perf_counter() - start) / count)
    return best


def paper_rbm() -> RBM:
    """An RBM of the papers' size in float32, with weights as large as training leaves them."""
    target = RBM(784, 500).float().requires_grad_(False)
    target.weight.mul_(2.0)
    return target


def _swap_of(kernel: ParallelTempering, target: RBM) -> Callable[[], object]:
    """A call that does the swaps of one round, always from the same state."""
    one, generator = torch.ones(()), Streams([0], "bench")
    kernel = kernel.to(target.like())
    state = kernel.init(target, target.initial((*kernel.axes, 1, CHAINS), generator), one)
    memory, moved = SwapMemory.of(state), replace(state, aux={})
    ladder = Rungs(along_first(kernel.betas, state.log_prob.dim()))
    return lambda: kernel.swaps.round(target, moved, moved, ladder, memory, generator)


def _tempered(replicas: int) -> ParallelTempering:
    return ParallelTempering(DMALA(1.0), ladder=LADDERS[replicas], step_size=STEP_SIZE)


@dataclass(frozen=True)
class RBMStep:
    """Seconds of one step of 100 chains, on one thread, all measured in turns.

    Attributes:
        products: the two matrix products that a step cannot avoid, W theta and W' sigmoid.
        single: DMALA.
        plain: DMALA as a script would write it.
        tempered: a round of 5 replicas of DMALA.
        swap: the swaps in it.
    """

    products: float
    single: float
    plain: float
    tempered: float
    swap: float


def compare_rbm_step(rounds: int = 60) -> RBMStep:
    """DMALA against its own matrix products, against the plain step, and with 5 replicas."""
    target, generator = paper_rbm(), Streams([0], "bench")
    weight = target.weight
    theta: Tensor = target.initial((1, CHAINS), generator)[0]
    hidden = target.hidden_logits(theta).sigmoid()
    log_prob = energy(weight, target.hidden_bias, target.visible_bias)
    state = theta.clone()

    def plain() -> None:
        nonlocal state
        state = plain_step(log_prob, state, STEP_SIZE)

    calls: dict[str, Callable[[], object]] = {
        "products": lambda: (theta @ weight.T, hidden @ weight),
        "single": stepping(DMALA(STEP_SIZE), target, CHAINS),
        "plain": plain,
        "tempered": stepping(_tempered(5), target, CHAINS),
        "swap": _swap_of(_tempered(5), target),
    }
    with thread_count(1):
        return RBMStep(**seconds_in_turns(calls, rounds))


def steps_a_second(count: int, rounds: int = 30) -> dict[str, float]:
    """Steps of 100 chains a second by sampler, on `count` threads; a round of 4 replicas is one step."""
    target = paper_rbm()
    kernels: dict[str, Kernel] = {
        "dmala": DMALA(STEP_SIZE),
        "dula": DULA(STEP_SIZE),
        "rbm_gibbs": RBMGibbs(),
        "pt_dmala, 4 replicas": _tempered(4),
    }
    with thread_count(count):
        found = seconds_in_turns(
            {name: stepping(kernel, target, CHAINS) for name, kernel in kernels.items()}, rounds
        )
    return {name: 1.0 / seconds for name, seconds in found.items()}
