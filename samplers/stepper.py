"""Steps of one kernel on one target, plain or compiled; on a CUDA device both are replayed as a CUDA graph.

A step of a sampler is dozens of small operations, and on a GPU starting them takes longer than they do. A
CUDA graph starts all of them at once. It runs the same operations on the same random numbers, so that the
states are those of the steps that it replays, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.differing_chains import FEW, share_differing
from samplers.compiling.not_compiled import NotCompiledError, first_line
from samplers.kernel import Info, Kernel, State
from samplers.replay.recorded_step import RecordedStep, Step
from samplers.tensor_tree import same_form, tensors
from targets.randomness import Generator, Streams
from targets.target import Target

if TYPE_CHECKING:
    from samplers.compiling.traced_step import TracedStep

PLAIN_STEPS = 20
"""Steps before the recording: short runs do without, and what is made at first use is there by then."""


class Stepper:
    """Takes steps of `kernel` on `target`; what it returns is never overwritten by a later step.

    A caller must not change what it got in place: a replayed step goes on from its own copy.

    Args:
        kernel, target, beta, generator: what `Kernel.step` takes besides the state. Parameters of the target
            may change in place.

    Attributes:
        compiled: whether steps are.
        not_recorded: why steps on a CUDA device are not replayed; None where they are, or before the attempt.
    """

    def __init__(self, kernel: Kernel, target: Target, beta: Tensor, generator: Generator) -> None:
        self._plain: Step = lambda state: kernel.step(target, state, beta, generator)
        self._to_record = self._plain
        self._arguments = kernel, target, beta, generator
        self._recordable = beta.is_cuda
        self._recorded: RecordedStep | None = None
        self.not_recorded: str | None = None
        self._count = 0
        self.compiled = False

    def __call__(self, state: State) -> tuple[State, Info]:
        """One transition of every chain."""
        if self._recorded is not None and self._recorded.fits(state):
            return self._recorded.replay(state)
        if self._recordable:
            self._count += 1
            if self._count > PLAIN_STEPS:
                self._count, self._recorded = 0, self._record(state)
                self._recordable = self._recorded is not None
        return self._plain(state)

    def trace(self, state: State) -> TracedStep:
        """A step from states of the form of `state` as one graph; takes no step.

        Raises:
            NotCompiledError: if it is none.
        """
        from samplers.compiling.traced_step import TracedStep  # a second of imports

        kernel, target, beta, streams = self._arguments
        if not isinstance(streams, CounterStreams):
            raise NotCompiledError(
                "a compiled step needs the random numbers of CounterStreams, "
                f"{type(streams).__name__} was given"
            )
        return TracedStep(kernel, target, state, beta, streams)

    def compile(self, state: State) -> None:
        """Compiles steps from states of the form of `state`, those of all further calls; takes none.

        Raises:
            NotCompiledError: if that fails; steps are plain then.
        """
        compiled = self.trace(state).compiled(state, overwrites=self._recordable)
        self._plain, self._to_record, self.compiled = compiled, compiled.overwrite, True

    def _record(self, state: State) -> RecordedStep | None:
        """One step as a CUDA graph; None where it cannot be one, as if the host waits for a value in it."""
        *_, beta, generator = self._arguments
        self.not_recorded = None
        # The graph is recorded on the device in force, where a step on another one would leave it empty.
        try:
            with torch.cuda.device(beta.device):
                with _unused(generator), _forbidden_waits():
                    found = self._plain(state)
                if not _alike(state, found[0]):
                    self.not_recorded = "the next state has another form"
                    return None
                with _unused(generator):
                    recorded = RecordedStep(self._to_record, state, found[1], _generators(generator))
                with _unused(generator):
                    replayed, _ = recorded.replay(state)
        except RuntimeError as error:
            self.not_recorded = first_line(error)
            return None
        # Up to rounding: backward convolutions add up in an order that changes from call to call.
        if (share := share_differing(replayed, found[0])) > FEW:
            self.not_recorded = f"{share:.0%} of the chains of a replayed step differ from the step itself"
            return None
        return recorded


@contextmanager
def _forbidden_waits() -> Iterator[None]:
    """Raises RuntimeError where the host waits for the device in the block."""
    mode = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode(mode)


def _generators(generator: Generator) -> list[torch.Generator]:
    """Those whose numbers a step takes; none where they come from a counter."""
    if isinstance(generator, CounterStreams):
        return []
    return list(generator.generators) if isinstance(generator, Streams) else [generator]


@contextmanager
def _unused(generator: Generator) -> Iterator[None]:
    """Leaves the random numbers that are used in the block for later."""
    if isinstance(generator, CounterStreams):
        with generator.unused():
            yield
        return
    generators = _generators(generator)
    before = [each.get_state() for each in generators]
    try:
        yield
    finally:
        for each, saved in zip(generators, before, strict=True):
            each.set_state(saved)


def _alike(one: State, other: State) -> bool:
    same = one.aux.keys() == other.aux.keys() and one.cached_by == other.cached_by
    return same and same_form(tensors(one), list(tensors(other)))
