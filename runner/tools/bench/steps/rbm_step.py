"""How long a step on an RBM of 784 visible and 500 hidden units takes, beside its own matrix products."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

from metrics.library.thread_count import thread_count
from runner.tools.bench.baselines.plain_sampler import plain_step, rbm_energy
from runner.tools.bench.timing import BenchRows, seconds_in_turns, stepping
from samplers import DMALA, DULA, Info, Kernel, ParallelTempering, RBMGibbs, State
from samplers.kernel import evaluate
from targets import RBM, Streams, Target
from targets.randomness import Generator

CHAINS, STEP_SIZE = 100, 0.2
LADDERS = {4: [1.0, 0.9, 0.8, 0.7], 5: [1.0, 0.9, 0.8, 0.7, 0.6]}


def paper_rbm() -> RBM:
    """An RBM of the papers' size in float32, with weights as large as training leaves them."""
    target = RBM(784, 500).float().requires_grad_(False)
    target.weight.mul_(2.0)
    return target


class Still(Kernel):
    """Does not move: a round of its replicas is swaps alone."""

    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        return evaluate(target, theta, gradient=True)

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        none = torch.zeros_like(state.log_prob)
        return state, Info(none, none, 0)


def _tempered(replicas: int) -> ParallelTempering:
    return ParallelTempering(DMALA(1.0), ladder=LADDERS[replicas], step_size=STEP_SIZE)


def compare_rbm_step(rounds: int) -> dict[str, float]:
    """Seconds of one step of 100 chains in float32, on one thread, all measured in turns.

    Returns:
        ``products``: the two matrix products that a step cannot avoid, W theta and W' sigmoid; ``single``:
        DMALA; ``plain``: DMALA as a script would write it; ``tempered``: a round of 5 replicas of DMALA;
        ``swap``: the swaps in it.
    """
    target, generator = paper_rbm(), Streams([0], "bench")
    weight = target.weight
    theta: Tensor = target.initial((1, CHAINS), generator)[0]
    hidden = target.hidden_logits(theta).sigmoid()
    log_prob = rbm_energy(weight, target.hidden_bias, target.visible_bias)
    state = theta.clone()

    def plain() -> None:
        nonlocal state
        state = plain_step(log_prob, state, STEP_SIZE)

    calls: dict[str, Callable[[], object]] = {
        "products": lambda: (theta @ weight.T, hidden @ weight),
        "single": stepping(DMALA(STEP_SIZE), target, CHAINS),
        "plain": plain,
        "tempered": stepping(_tempered(5), target, CHAINS),
        "swap": stepping(ParallelTempering(Still(), ladder=LADDERS[5]), target, CHAINS),
    }
    with thread_count(1):
        return seconds_in_turns(calls, rounds)


def steps_a_second(count: int, rounds: int) -> dict[str, float]:
    """Steps of 100 chains a second by sampler, on `count` threads; a round of 4 replicas is one step."""
    target = paper_rbm()
    kernels: dict[str, Kernel] = {
        "dmala": DMALA(STEP_SIZE),
        "dula": DULA(STEP_SIZE),
        "rbm_gibbs": RBMGibbs(),
        "pt_dmala, 4 replicas": _tempered(4),
    }
    with thread_count(count):
        calls = {name: stepping(kernel, target, CHAINS) for name, kernel in kernels.items()}
        return {name: 1.0 / seconds for name, seconds in seconds_in_turns(calls, rounds).items()}


def seed_rows(bench: BenchRows, rounds: int) -> None:
    """A step of ten seeds in one batch, against ten steps of one."""
    target, seeds = paper_rbm(), 10
    for threads, chains in itertools.product((1, 2), (20, CHAINS)):
        for name, kernel in {"dmala": DMALA(STEP_SIZE), "rbm_gibbs": RBMGibbs()}.items():
            calls = {count: stepping(kernel, target, chains, seeds=count) for count in (1, seeds)}
            with thread_count(threads):
                seconds = seconds_in_turns(calls, rounds)
            title = f"{name}, RBM 784 x 500, {chains} chains, threads={threads}: 10 seeds in one batch"
            most = 0.9 if threads == 2 else 1.05
            bench.ratio(f"{title}, against one by one", seconds[seeds], seeds * seconds[1], most=most)


def rbm_rows(bench: BenchRows, rounds: int) -> None:
    """The rows of the bench."""
    seconds = compare_rbm_step(rounds)
    single, tempered = seconds["single"], seconds["tempered"]
    name = "DMALA step, RBM 784 x 500, 100 chains, 1 thread"
    bench.ratio(f"{name}, against its two matrix products", single, seconds["products"], most=1.8)
    bench.ratio(f"{name}, faster than plain autograd", seconds["plain"], single, least=2.5)
    bench.ratio("its round of 5 replicas, against 5 steps", tempered, 5 * single, most=1.15)
    bench.ratio("the swaps in that round", seconds["swap"], tempered, most=0.05)
    for count in (1, 2):
        for sampler, steps in steps_a_second(count, rounds).items():
            bench.add(f"{sampler}, RBM 784 x 500, 100 chains, threads={count}", f"{steps:.0f} steps/s")
    seed_rows(bench, rounds)
