"""How long an iteration of learning an RBM takes on a CUDA device, its steps replayed and compiled."""

from __future__ import annotations

from collections.abc import Callable

import torch

from runner.models.training import Training
from runner.tools.bench.rbm_learning import CHAINS, KERNELS, STEPS, learning
from runner.tools.bench.timing import BenchRows, seconds_in_turns


def learning_rows(bench: BenchRows, rounds: int) -> None:
    """An iteration with each sampler, its steps replayed and compiled and replayed."""
    for name, kernel in KERNELS.items():
        calls = {choice: _iteration(learning(kernel(), choice, "cuda")) for choice in (False, True)}
        seconds = seconds_in_turns(calls, rounds, warm_up=3)
        row = f"an iteration of {STEPS} steps of {name}, {CHAINS} chains, RBM 784 x 500, cuda"
        bench.ratio(f"{row}, compiled against replayed", seconds[True], seconds[False])


def _iteration(training: Training) -> Callable[[], None]:
    """One iteration, after which the device is waited for."""

    def call() -> None:
        training.advance(1)
        torch.cuda.synchronize()

    return call
