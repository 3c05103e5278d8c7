"""A DMALA step on an RBM of 784 x 500 beside the same in JAX, in turns, in a process with one thread."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable

import torch

from metrics.library.thread_count import thread_count
from runner.execution.compiling.choice import has_compiler
from runner.tools.bench.child_cost import printed_json
from runner.tools.bench.steps.rbm_step import STEP_SIZE, paper_rbm
from runner.tools.bench.timing import BenchRows, seconds_in_turns, stepping
from samplers.discrete.dmala import DMALA

ONE_THREAD = {
    "NPROC": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}
"""The environment in which JAX has one thread."""


def jax_rows(bench: BenchRows, rounds: int, counts: tuple[int, ...] = (100, 500)) -> None:
    """The rows of the bench for so many chains; where JAX is absent a row that says so."""
    if importlib.util.find_spec("jax") is None:
        bench.add("DMALA step against JAX", "left out, pip install -e '.[jax]'")
        return
    for chains in counts:
        seconds = printed_json(__name__, str(chains), str(rounds), environment=ONE_THREAD)
        name = f"RBM 784 x 500, {chains} chains, 1 thread, against JAX"
        bench.ratio(f"DMALA step, {name}", seconds["ours"], seconds["jax"])
        if "compiled" in seconds:
            bench.ratio(f"compiled DMALA step, {name}", seconds["compiled"], seconds["jax"], most=1.0)
        bench.ratio(f"two matrix products, {name}", seconds["products"], seconds["jax products"])


def seconds_beside_jax(chains: int, rounds: int) -> dict[str, float]:
    """Seconds of a step in turns.

    Returns:
        ``ours`` and ``jax``: a step; ``compiled``: ours compiled, where a compiler is there; ``products`` and
        ``jax products``: its two matrix products in PyTorch and in JAX.
    """
    import jax

    from runner.tools.bench.baselines.jax_dmala import STEPS, rbm_peer

    target = paper_rbm()
    theta = (torch.rand((chains, 784), generator=torch.Generator().manual_seed(0)) < 0.5).float()
    hidden = target.hidden_logits(theta).sigmoid()
    jax_steps, jax_products = rbm_peer(target, theta, hidden, STEP_SIZE)
    calls: dict[str, Callable[[], object]] = {
        "ours": stepping(DMALA(STEP_SIZE), target, chains),
        "jax": jax_steps,
        "products": lambda: (theta @ target.weight.T, hidden @ target.weight),
        "jax products": lambda: jax.block_until_ready(jax_products()),
    }
    with thread_count(1), torch.no_grad():
        if has_compiler():
            calls["compiled"] = stepping(DMALA(STEP_SIZE), target, chains, compiled=True)
        seconds = seconds_in_turns(calls, rounds)
    return {**seconds, "jax": seconds["jax"] / STEPS}


if __name__ == "__main__":
    print(json.dumps(seconds_beside_jax(*map(int, sys.argv[1:]))))
