"""How long a step of 50 binary networks takes, beside its own products, loops over networks, and a script."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from runner.tools.bench.baselines.plain_rbm import plain_step
from runner.tools.bench.child_cost import cost_of, print_cost
from runner.tools.bench.rbm_step import seconds_in_turns, thread_count
from runner.tools.bench.tempering_round import stepping
from samplers.discrete.dmala import DMALA
from targets.models.binary_bnn import BinaryBNN, matrix_in
from targets.tabular.tabular_data import Part, TabularData

NETWORKS, STEP_SIZE = 50, 0.1
COMPAS, ADULT = (4887, 2158, 13), (29860, 29860, 88)
"""Training rows of the sets, how many of them differ, and features; the rows are made up."""


def made_up_table(rows: int, distinct: int, features: int) -> TabularData:
    """Rows of the size of a set."""
    generator = torch.Generator().manual_seed(0)

    def part(count: int, distinct: int) -> Part:
        inputs = torch.randn((distinct, features), generator=generator, dtype=torch.float64)
        repeated = inputs.repeat(-(-count // distinct), 1)[:count]
        return Part(repeated, torch.randint(2, (count,), generator=generator).double())

    return TabularData("made up", part(rows, distinct), part(50, 50), part(50, 50))


def plain_energy(data: TabularData, hidden: int) -> Callable[[Tensor], Tensor]:
    """U of one network ``(1, d)`` as a script writes it, to ``(1,)``."""
    inputs, outcome = data.train.inputs.float(), data.train.outcome.float()
    features = inputs.shape[1]

    def log_prob(theta: Tensor) -> Tensor:
        w = 2.0 * theta[0] - 1.0
        first = w[: features * hidden].view(features, hidden)
        units = torch.tanh(inputs @ first + w[features * hidden : (features + 1) * hidden])
        output = torch.sigmoid(units @ w[(features + 1) * hidden : -1] + w[-1])
        return -100.0 * (output - outcome).square().mean().unsqueeze(0)

    return log_prob


def bare_products(
    target: BinaryBNN, theta: Tensor, activation: Callable[[Tensor], Tensor]
) -> Callable[[], None]:
    """A call with the three matrix products of an evaluation and one pass of `activation`, in its chunks."""
    inputs = target.rows("train").inputs
    work = theta.new_empty(0)

    def call() -> None:
        for group, stretches in target._chunks(len(theta), inputs):
            weights, output, _ = target._unpacked(theta[group])
            units = weights.flatten(0, 1)
            gradient = inputs.new_zeros(len(inputs), len(units))
            for at in stretches:
                hidden = torch.mm(units, inputs[:, at], out=matrix_in(work, len(units), at.stop - at.start))
                activation(hidden)
                torch.bmm(output.unsqueeze(1), hidden.view(*weights.shape[:2], -1))
                gradient.addmm_(inputs[:, at], hidden.T)

    return call


@dataclass(frozen=True)
class NetworkStep:
    """Seconds of a DMALA step of 50 networks, on one thread, all measured in turns.

    Attributes:
        together: all in one batch.
        products_and_tanh: its matrix products and one pass of tanh.
        products_and_sigmoid: the same with the sigmoid that it computes in place of tanh.
        one_by_one: the suite's step of one network, 50 times.
        script: a step of one network as a script would write it, 50 times.
    """

    together: float
    products_and_tanh: float
    products_and_sigmoid: float
    one_by_one: float
    script: float


def compare_network_step(hidden: int, rounds: int, size: tuple[int, int, int] = COMPAS) -> NetworkStep:
    """DMALA on 50 networks with so many hidden units."""
    data = made_up_table(*size)
    target = BinaryBNN(data, hidden).float().requires_grad_(False)
    theta = target.initial((NETWORKS,), torch.Generator().manual_seed(1))
    log_prob, states = plain_energy(data, hidden), list(theta.unsqueeze(1))
    alone = [stepping(DMALA(STEP_SIZE), target, 1) for _ in range(NETWORKS)]

    def one_by_one() -> None:
        for step in alone:
            step()

    def script() -> None:
        for place, state in enumerate(states):
            states[place] = plain_step(log_prob, state, STEP_SIZE)

    calls: dict[str, Callable[[], object]] = {
        "together": stepping(DMALA(STEP_SIZE), target, NETWORKS),
        "products_and_tanh": bare_products(target, theta, Tensor.tanh_),
        "products_and_sigmoid": bare_products(target, theta, Tensor.sigmoid_),
        "one_by_one": one_by_one,
        "script": script,
    }
    with thread_count(1):
        return NetworkStep(**seconds_in_turns(calls, rounds))


def network_megabytes() -> float:
    """Peak resident memory of a process that takes a step of 50 networks of 500 units on rows as of Adult.

    Raises:
        RuntimeError: if the process fails.
    """
    return cost_of("runner.tools.bench.network_step").megabytes


def network_rows(add: Callable[[str, str, str, bool], None], rounds: int) -> None:
    """The rows of the bench."""
    name = "DMALA step, 50 binary networks of {} units, COMPAS size, 1 thread, {}"
    large, small = (compare_network_step(*of) for of in ((500, max(2, rounds // 8)), (10, rounds)))

    def times(share: float, one: float, other: float) -> str:
        return f"{share:.2f} times ({1e3 * one:.1f} against {1e3 * other:.1f} ms)"

    share = large.together / large.products_and_tanh
    found = times(share, large.together, large.products_and_tanh)
    add(name.format(500, "against its products and one pass of tanh"), found, "<= 2", share <= 2.0)
    found = times(large.together / large.products_and_sigmoid, large.together, large.products_and_sigmoid)
    add(name.format(500, "against its products and the sigmoid in place of tanh"), found, "-", True)
    for hidden, step, least in ((500, large, 1.0), (10, small, 10.0)):
        loops = {"than the same one by one": step.one_by_one, "than a script's loop": step.script}
        for what, loop in loops.items():
            share = loop / step.together
            found = times(share, step.together, loop)
            add(name.format(hidden, f"faster {what}"), found, f">= {least:g}", share >= least)


def main() -> None:
    """Takes one step of 50 networks of 500 units on rows as many as those of Adult; prints what it cost."""
    start = time.perf_counter()
    stepping(
        DMALA(STEP_SIZE), BinaryBNN(made_up_table(*ADULT), 500).float().requires_grad_(False), NETWORKS
    )()
    print_cost(time.perf_counter() - start)


if __name__ == "__main__":
    main()
