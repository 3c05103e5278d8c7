"""How long a step of DMALA takes on a max-cut of 1,000 nodes, beside one evaluation of value and gradient."""

from __future__ import annotations

import torch

from metrics.library.thread_count import thread_count
from runner.tools.bench.timing import BenchRows, seconds_in_turns, stepping
from samplers import DMALA
from targets import MaxCut

CHAINS, NODES = 100, 1000


def cut_rows(bench: BenchRows, rounds: int) -> None:
    """Steps of 100 chains on one thread, in turns with the evaluation and with one by a dense matrix."""
    target = MaxCut({"model": "erdos_renyi", "nodes": NODES, "degree": 10.0})
    theta = target.initial((CHAINS,), torch.Generator().manual_seed(0))
    dense = torch.zeros(NODES, NODES)
    one, other = target.graph.edges.T
    dense[one, other] = dense[other, one] = 1.0
    with thread_count(1):
        seconds = seconds_in_turns(
            {
                "step": stepping(DMALA(0.2), target, CHAINS),
                "evaluation": lambda: target.log_prob_and_grad(theta),
                "sums": lambda: target.neighbours(theta),
                "dense": lambda: theta @ dense,
            },
            rounds,
        )
    about = f"max-cut, {NODES:,} nodes of degree 10, {CHAINS} chains, 1 thread"
    bench.ratio(f"dmala step, {about}, against value and gradient", seconds["step"], seconds["evaluation"])
    bench.ratio(f"neighbour sums, {about}, against a dense product", seconds["sums"], seconds["dense"])
