"""How long a step of 50 binary networks takes, beside its own products, loops over networks, and a script."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from metrics.library.thread_count import thread_count
from runner.execution.compiling.choice import has_compiler
from runner.tools.bench.baselines.plain_sampler import LogProb, plain_step
from runner.tools.bench.child_cost import cost_of, print_cost
from runner.tools.bench.timing import BenchRows, seconds_in_turns, stepping
from samplers.discrete.dmala import DMALA
from targets.models.binary_bnn import BinaryBNN
from targets.models.network_passes import Networks, chunks, matrix_in
from targets.tabular.tabular_data import Part, TabularData

NETWORKS, STEP_SIZE = 50, 0.1
COMPAS, ADULT = (4887, 2158, 13), (29860, 29860, 88)
"""Training rows of the sets, how many of them differ, and features; the rows are made up."""
RARE = (16000, 200, 190)
"""Rows, columns, and how many of these are 0 but in one row of a hundred."""


def made_up_table(rows: int, distinct: int, features: int) -> TabularData:
    """Rows of the size of a set."""
    generator = torch.Generator().manual_seed(0)

    def part(count: int, distinct: int) -> Part:
        inputs = torch.randn((distinct, features), generator=generator, dtype=torch.float64)
        repeated = inputs.repeat(-(-count // distinct), 1)[:count]
        return Part(repeated, torch.randint(2, (count,), generator=generator).double())

    return TabularData("made up", part(rows, distinct), part(50, 50), part(50, 50))


def table_with_rare_values(rows: int, features: int, rare: int) -> TabularData:
    """Rows as of categories and counts of words: `rare` of their columns have one value but in a few rows."""
    data = made_up_table(rows, rows, features)
    inputs = data.train.inputs
    inputs[:, :rare] *= (
        torch.rand(inputs[:, :rare].shape, generator=torch.Generator().manual_seed(1)) < 1 / 100
    )
    return data


def plain_energy(data: TabularData, hidden: int) -> LogProb:
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
        for group, stretches in chunks(len(theta), target.n_hidden, inputs):
            weights, output, _ = Networks.of(theta[group], target.n_hidden)
            units = weights.flatten(0, 1)
            gradient = inputs.new_zeros(len(inputs), len(units))
            for at in stretches:
                hidden = torch.mm(units, inputs[:, at], out=matrix_in(work, len(units), at.stop - at.start))
                activation(hidden)
                torch.bmm(output.unsqueeze(1), hidden.view(*weights.shape[:2], -1))
                gradient.addmm_(inputs[:, at], hidden.T)

    return call


def compare_network_step(hidden: int, rounds: int) -> dict[str, float]:
    """Seconds of a DMALA step of 50 networks with so many hidden units, on one thread, all measured in turns.

    Returns:
        ``together``: all in one batch; ``tanh``: its matrix products and one pass of tanh; ``sigmoid``: the
        same with the sigmoid that it computes in place of tanh; ``one_by_one``: the step of one network, 50
        times; ``script``: a step of one network as a script would write it, 50 times; where there is a
        compiler, ``compiled``: a compiled step of all.
    """
    data = made_up_table(*COMPAS)
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
        "tanh": bare_products(target, theta, Tensor.tanh_),
        "sigmoid": bare_products(target, theta, Tensor.sigmoid_),
        "one_by_one": one_by_one,
        "script": script,
    }
    with thread_count(1):
        if has_compiler():
            calls["compiled"] = stepping(DMALA(STEP_SIZE), target, NETWORKS, compiled=True)
        return seconds_in_turns(calls, rounds)


def rare_values_row(bench: BenchRows, rounds: int) -> None:
    """The gradient where most columns are constant in a block of rows, against rows in random order."""
    ordered, mixed = (
        BinaryBNN(table_with_rare_values(*RARE), 100).float().requires_grad_(False) for _ in range(2)
    )
    rows = mixed.rows("train")
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(2))
    rows.inputs, rows.outcome, rows.share = rows.inputs[:, order], rows.outcome[order], rows.share[order]
    theta = ordered.initial((NETWORKS,), torch.Generator().manual_seed(1))
    with thread_count(1):
        seconds = seconds_in_turns(
            {
                "ordered": lambda: ordered.log_prob_and_grad(theta),
                "mixed": lambda: mixed.log_prob_and_grad(theta),
            },
            rounds,
            warm_up=1,
        )
    name = "gradient of 50 binary networks of 100 units, 16,000 rows, 190 of 200 columns with rare values"
    bench.ratio(f"{name}, against rows in random order", seconds["ordered"], seconds["mixed"], most=0.8)


def network_rows(bench: BenchRows, rounds: int) -> None:
    """The rows about speed."""
    rare_values_row(bench, max(2, rounds // 8))
    name = "DMALA step, 50 binary networks of {} units, COMPAS size, 1 thread, {}"
    for hidden, turns, least in ((500, max(2, rounds // 8), 1.0), (10, rounds, 10.0)):
        seconds = compare_network_step(hidden, turns)
        together = seconds["together"]
        if hidden == 500:
            about = name.format(hidden, "against its products and one pass of tanh")
            bench.ratio(about, together, seconds["tanh"], most=2)
            about = name.format(hidden, "against its products and the sigmoid in place of tanh")
            bench.ratio(about, together, seconds["sigmoid"])
        if "compiled" in seconds:
            bench.ratio(name.format(hidden, "compiled against plain"), seconds["compiled"], together)
        for loop, what in (("one_by_one", "the same one by one"), ("script", "a script's loop")):
            bench.ratio(name.format(hidden, f"faster than {what}"), seconds[loop], together, least=least)


def network_memory_rows(bench: BenchRows) -> None:
    """Peak memory of a process that takes a step of 50 networks of 500 units on rows as of Adult."""
    peak = cost_of("runner.tools.bench.steps.network_step").megabytes
    name = "50 binary networks of 500 units, 29,860 rows x 88: memory of a step"
    bench.limited(name, f"{peak:.0f} MB", peak, 4096, " MB")


def _step_as_of_adult() -> None:
    target = BinaryBNN(made_up_table(*ADULT), 500).float().requires_grad_(False)
    stepping(DMALA(STEP_SIZE), target, NETWORKS)()


if __name__ == "__main__":
    print_cost(_step_as_of_adult)
