"""How long an iteration of learning an RBM takes, with compiled steps and with plain ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from metrics.library.thread_count import thread_count
from runner.execution.compiling.choice import has_compiler
from runner.models.training import Training, TrainingImages, TrainingSettings
from runner.tools.bench.timing import BenchRows, seconds_in_turns
from samplers import DMALA, Kernel, RBMGibbs
from targets import RBM

STEPS, CHAINS = 40, 100
"""Steps of the chains in an iteration, as published for PT-DLP's RBMs, and chains."""

KERNELS: dict[str, Callable[[], Kernel]] = {"dmala": lambda: DMALA(0.2), "rbm_gibbs": RBMGibbs}


def learning(kernel: Kernel, compiled: bool, where: torch.device | str = "cpu") -> Training:
    """Of an RBM of 784 x 500 with persistent chains, on made-up images."""
    images = torch.rand((1000, 784), generator=torch.Generator().manual_seed(0)) < 0.3
    model = RBM(784, 500, images.double().mean(0)).float().to(where)
    settings = TrainingSettings(
        "pcd", cd_steps=STEPS, iterations=10**6, batch=100, chains=CHAINS, compiled=compiled
    )
    data = TrainingImages(images.to(where, torch.uint8))
    return Training(model, kernel, data, settings, seed=0, records=1)


def learning_rows(bench: BenchRows, rounds: int) -> None:
    """An iteration with each sampler, on one thread; nothing where there is no compiler."""
    if not has_compiler():
        return
    with thread_count(1):
        for name, kernel in KERNELS.items():
            calls = {choice: partial(learning(kernel(), choice).advance, 1) for choice in (False, True)}
            seconds = seconds_in_turns(calls, rounds, warm_up=2)
            row = f"an iteration of {STEPS} steps of {name}, {CHAINS} chains, RBM 784 x 500, 1 thread"
            bench.ratio(f"{row}, compiled against plain", seconds[True], seconds[False], most=0.9)
