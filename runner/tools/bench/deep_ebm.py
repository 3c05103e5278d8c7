"""How long an iteration of learning a deep energy-based model takes, beside a script's loop.

`python -m runner.tools.bench.deep_ebm` measures on the device of this computer, and with ``--paper`` at the
size of PT-DLP Table 3 (64 maps, 8 blocks) instead of 16 maps and 4 blocks.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from metrics.library.thread_count import thread_count
from runner.models.training import Training, TrainingImages, TrainingSettings
from runner.tools.bench.baselines.plain_deep import PlainNetwork, plain_iteration
from runner.tools.bench.child_cost import cost_of, print_cost
from runner.tools.bench.timing import BenchRows, seconds_in_turns
from samplers import ACS, DMALA, Kernel, ParallelTempering
from targets.models.resnet_ebm import ResNetEBM

BATCH, STEPS = 100, 10
LADDER, SIZES = [1.0, 0.8, 0.6], [0.05, 0.15, 0.4]
REDUCED, PAPER = (16, 4), (64, 8)
"""Maps and blocks."""

NOTHING = "nothing"
"""In place of a sampler: a process that only imports the program."""

KERNELS: dict[str, Callable[[], Kernel]] = {
    "dmala": lambda: DMALA(0.15),
    "acs": lambda: ACS(cycle_length=50, step_size=5.0, min_step_size=0.15, balancing=0.6),
    "pt_dmala, 3 replicas": lambda: ParallelTempering(DMALA(1.0), ladder=LADDER, step_size=SIZES),
}


def device() -> torch.device:
    """CUDA where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def images(where: torch.device) -> Tensor:
    """Made-up binary images of 28 x 28."""
    generator = torch.Generator().manual_seed(0)
    return (torch.rand((10 * BATCH, 784), generator=generator) < 0.15).to(where, torch.float32)


def learning(sampler: str, size: tuple[int, int], where: torch.device) -> Training:
    """The project's training at batch 100, 10 steps of the sampler in every iteration."""
    data, (width, blocks) = images(where), size
    target = ResNetEBM(784, data.mean(0).cpu(), width=width, blocks=blocks).float().to(where)
    settings = TrainingSettings(
        "pcd", cd_steps=STEPS, iterations=10_000, batch=BATCH, chains=BATCH, learning_rate=1e-4
    )
    return Training(target, KERNELS[sampler](), TrainingImages(data), settings, seed=0)


def script(sampler: str, size: tuple[int, int], where: torch.device) -> Callable[[], None]:
    """A script's iteration of the same sampler. A step of ACS costs it what one of DMALA does."""
    data = images(where)
    network = PlainNetwork(*size, 0.98 * data.mean(0) + 0.01).to(where)
    tempered = sampler.startswith("pt")
    betas, sizes = (LADDER, SIZES) if tempered else ([1.0], [0.15])
    return plain_iteration(network, data[:BATCH], STEPS, betas, sizes)


def compare_iteration(sampler: str, size: tuple[int, int], rounds: int) -> dict[str, float]:
    """Seconds of an iteration of learning at batch 100, on one thread, the fastest of `rounds`.

    Returns:
        ``own``: the project's; ``script``: a script's; ``network``: the evaluations of the network in the
        project's alone, one after the other.
    """
    where = device()
    training = learning(sampler, size, where)
    target, replicas = training.target, 3 if sampler.startswith("pt") else 1
    theta, both = images(where)[:BATCH].repeat(replicas, 1), images(where)[: 2 * BATCH]

    def network() -> None:
        for _ in range(STEPS + 1):
            target.log_prob_and_grad(theta)
        target.requires_grad_(True)
        with torch.enable_grad():
            torch.autograd.backward(target.log_prob(both).sum())
        target.requires_grad_(False)

    def finished(call: Callable[[], object]) -> Callable[[], None]:
        def until_done() -> None:
            call()
            if where.type == "cuda":
                torch.cuda.synchronize()

        return until_done

    calls = {"own": lambda: training.advance(1), "script": script(sampler, size, where), "network": network}
    with thread_count(1):
        timed = {name: finished(call) for name, call in calls.items()}
        return seconds_in_turns(timed, rounds, least=0.0, warm_up=1)


@torch.no_grad()
def waits(sampler: str, size: tuple[int, int]) -> bool:
    """Whether the host waits for the CUDA device anywhere in 10 steps of the sampler."""
    training = learning(sampler, size, torch.device("cuda"))
    training.advance(1)
    chains, state = training.chains, training.chains.state
    assert state is not None
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(STEPS):
            state, _ = chains.kernel.step(training.target, state, chains.beta, chains.streams)
    except RuntimeError:
        return True
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return False


def deep_rows(bench: BenchRows, rounds: int, size: tuple[int, int] = REDUCED) -> None:
    """The rows of the bench."""
    where = device().type
    for sampler in KERNELS:
        name = f"learning iteration, {size[0]} maps x {size[1]} blocks, batch {BATCH}, {where}, {sampler}"
        seconds = compare_iteration(sampler, size, rounds)
        least = 1.8 if where == "cpu" else None
        bench.ratio(f"{name}, faster than a script's loop", seconds["script"], seconds["own"], least=least)
        bench.add(f"{name}, share in the network", f"{100 * seconds['network'] / seconds['own']:.0f} %")
        if where == "cuda":
            waiting = waits(sampler, size)
            bench.add(f"{name}, the host waits in the sampling loop", str(waiting), "False", not waiting)


def deep_memory_rows(bench: BenchRows, size: tuple[int, int] = REDUCED) -> None:
    """The rows about peak memory, each of a process of its own, beside one that learns nothing."""
    peaks = {
        sampler: cost_of("runner.tools.bench.deep_ebm", "--child", sampler, *map(str, size)).megabytes
        for sampler in (NOTHING, *KERNELS)
    }
    for sampler in KERNELS:
        name = f"learning iteration, {size[0]} maps x {size[1]} blocks, batch {BATCH}, {sampler}: memory"
        bench.add(name, f"{peaks[sampler]:.0f} MB, {peaks[NOTHING]:.0f} MB of it the program's")


def _two_iterations(sampler: str, maps: str, blocks: str) -> None:
    if sampler != NOTHING:
        with thread_count(1):
            learning(sampler, (int(maps), int(blocks)), torch.device("cpu")).advance(2)


def main() -> None:
    """Prints the rows; as a child, makes two iterations and prints what they cost."""
    parser = argparse.ArgumentParser(prog="python -m runner.tools.bench.deep_ebm", description=__doc__)
    parser.add_argument("--child", nargs=3, metavar=("SAMPLER", "MAPS", "BLOCKS"), help=argparse.SUPPRESS)
    parser.add_argument("--paper", action="store_true", help="at the size of the paper")
    parser.add_argument("--rounds", type=int, default=3, help="of which the fastest counts (default: 3)")
    options = parser.parse_args()
    if options.child:
        print_cost(lambda: _two_iterations(*options.child))
        return
    bench, size = BenchRows(partial(print, flush=True)), PAPER if options.paper else REDUCED
    deep_memory_rows(bench, size)
    deep_rows(bench, options.rounds, size)


if __name__ == "__main__":
    main()
