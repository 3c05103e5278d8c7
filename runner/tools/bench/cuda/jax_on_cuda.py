"""A DMALA step on an RBM of 784 x 500 beside the same in JAX, both on the CUDA device, in turns."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable

import torch

from runner.tools.bench.child_cost import printed_json
from runner.tools.bench.steps.rbm_step import STEP_SIZE, paper_rbm
from runner.tools.bench.timing import BenchRows, seconds_in_turns, stepping
from samplers.discrete.dmala import DMALA

STEPS = 200
"""Steps in one call, after which the device is waited for; so many are one program in JAX."""

BESIDE = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
"""Leaves PyTorch memory of the device."""


def jax_cuda_rows(bench: BenchRows, counts: tuple[int, ...]) -> None:
    """The rows of the bench for so many chains; where JAX has no CUDA device a row that says so."""
    if importlib.util.find_spec("jax") is None:
        bench.add("DMALA step against JAX, cuda", "left out, JAX is not there")
        return
    for chains in counts:
        seconds = printed_json(__name__, str(chains), environment=BESIDE)
        name = f"RBM 784 x 500, {chains:,} chains, cuda, against JAX"
        if "jax" not in seconds:
            bench.add(f"DMALA step, {name}", "left out, JAX sees no CUDA device")
            return
        bench.ratio(f"replayed DMALA step, {name}", seconds["replayed"], seconds["jax"])
        bench.ratio(
            f"compiled and replayed DMALA step, {name}", seconds["compiled"], seconds["jax"], most=1.0
        )
        bench.ratio(f"two matrix products, {name}", seconds["products"], seconds["jax products"])


@torch.no_grad()
def seconds_beside_jax(chains: int) -> dict[str, float]:
    """Seconds of a step in turns, and of its two matrix products; nothing where JAX sees no CUDA device."""
    import jax

    from runner.tools.bench.baselines.jax_dmala import rbm_peer

    if jax.default_backend() != "gpu":
        return {}
    jax.config.update("jax_default_matmul_precision", "highest")  # else its products have 10 bits, not 23
    target = paper_rbm()
    theta = (torch.rand((chains, 784), generator=torch.Generator().manual_seed(0)) < 0.5).float()
    hidden = target.hidden_logits(theta).sigmoid()
    jax_steps, jax_products = rbm_peer(target, theta, hidden, STEP_SIZE, STEPS)
    target, theta, hidden = target.cuda(), theta.cuda(), hidden.cuda()

    def products_in_jax() -> None:
        for _ in range(STEPS - 1):
            jax_products()
        jax.block_until_ready(jax_products())

    calls: dict[str, Callable[[], object]] = {
        "replayed": _many(stepping(DMALA(STEP_SIZE), target, chains)),
        "compiled": _many(stepping(DMALA(STEP_SIZE), target, chains, compiled=True)),
        "jax": jax_steps,
        "products": _many(lambda: (theta @ target.weight.T, hidden @ target.weight)),
        "jax products": products_in_jax,
    }
    seconds = seconds_in_turns(calls, rounds=10, least=0.05, warm_up=2)
    return {name: each / STEPS for name, each in seconds.items()}


def _many(call: Callable[[], object]) -> Callable[[], None]:
    """`STEPS` calls, and then the device is waited for."""

    def calls() -> None:
        for _ in range(STEPS):
            call()
        torch.cuda.synchronize()

    return calls


if __name__ == "__main__":
    print(json.dumps(seconds_beside_jax(int(sys.argv[1]))))
