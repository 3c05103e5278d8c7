"""How the bench measures time, and the rows that it writes."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.fastest_kernel import fastest_kernel
from samplers.kernel import Info, Kernel
from samplers.seed_blocks import in_seed_blocks
from samplers.stepper import Stepper
from targets import Streams, Target

Name = TypeVar("Name", bound=Hashable)


class BenchRows:
    """The rows of the bench: what was measured, the value, what it should be, and whether it is.

    Args:
        say: is told every row as it is measured.
    """

    def __init__(self, say: Callable[[str], object]) -> None:
        self.found: list[tuple[str, str, str, str]] = []
        self._say = say

    def add(self, name: str, value: str, wanted: str = "-", met: bool = True) -> None:
        """Adds a row; by default nothing is wanted of the value."""
        self.found.append((name, value, wanted, "yes" if met else "NO"))
        self._say(f"  {name}: {value} (wanted: {wanted})")

    def limited(self, name: str, value: str, number: float, most: float, unit: str = "") -> None:
        """Adds a row whose `number` should be at most `most`."""
        self.add(name, value, f"<= {most:g}{unit}", number <= most)

    def ratio(
        self, name: str, one: float, other: float, *, most: float | None = None, least: float | None = None
    ) -> None:
        """Adds a row that says how many times as long `one` takes as `other`, both in seconds."""
        share = one / other
        value = f"{share:.2f} times ({1e3 * one:.2f} against {1e3 * other:.2f} ms)"
        if most is not None:
            self.add(name, value, f"<= {most:g}", share <= most)
        elif least is not None:
            self.add(name, value, f">= {least:g}", share >= least)
        else:
            self.add(name, value)


def seconds_in_turns(
    calls: Mapping[Name, Callable[[], object]], rounds: int, least: float = 0.03, warm_up: int = 5
) -> dict[Name, float]:
    """The fastest mean of each call, in `rounds` turns of at least one call and `least` seconds each.

    The calls take turns, so that other work on the computer slows all of them, and the turns are
    short, so that some of them are undisturbed. Each is first made `warm_up` times.
    """
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        for _ in range(warm_up):
            call()
    for _ in range(rounds):
        for name, call in calls.items():
            count, passed, start = 0, 0.0, time.perf_counter()
            while not count or passed < least:
                call()
                count, passed = count + 1, time.perf_counter() - start
            best[name] = min(best[name], passed / count)
    return best


def stepping(
    kernel: Kernel,
    target: Target,
    chains: int,
    *,
    seeds: int = 1,
    tables: bool = True,
    compiled: bool = False,
) -> Callable[[], Info]:
    """A call that takes one step of all chains of all seeds on the target's device and keeps their state."""
    one = target.like().new_ones(())
    generator = (CounterStreams if compiled else Streams)(range(seeds), "bench", one.device)
    target = in_seed_blocks(target, seeds)
    kernel = kernel.to(target.like())
    if tables:
        kernel = fastest_kernel(kernel, target, one, compiled=compiled)
    state = kernel.init(target, target.initial((*kernel.axes, seeds, chains), generator), one)
    stepper = Stepper(kernel, target, one, generator)
    if compiled:
        stepper.compile(state)

    def call() -> Info:
        nonlocal state
        state, info = stepper(state)
        return info

    return call
