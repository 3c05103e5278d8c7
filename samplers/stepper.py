"""Steps of one kernel on one target: plain, compiled, or on a CUDA device replayed as a CUDA graph.

A step of a sampler is dozens of small operations, and on a GPU starting them takes longer than they do. A
CUDA graph starts all of them at once. It runs the same operations on the same random numbers, so that the
states are those of plain steps, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.not_compiled import NotCompiledError
from samplers.kernel import Info, Kernel, State
from samplers.tensor_tree import maker, mapped, same_form, tensors
from targets.randomness import Generator, Streams
from targets.target import Target

if TYPE_CHECKING:
    from samplers.compiling.traced_step import TracedStep

PLAIN_STEPS = 20
"""Steps before the recording: short runs do without, and what is made at first use is there by then."""

Step = Callable[[State], tuple[State, Info]]


class Stepper:
    """Takes steps of `kernel` on `target`; what it returns is never overwritten by a later step.

    Args:
        kernel, target, beta, generator: what `Kernel.step` takes besides the state. Parameters of the target
            may change in place.
    """

    def __init__(self, kernel: Kernel, target: Target, beta: Tensor, generator: Generator) -> None:
        self._plain: Step = lambda state: kernel.step(target, state, beta, generator)
        self._arguments = kernel, target, beta, generator
        self._recordable = beta.is_cuda and not isinstance(generator, CounterStreams)
        self._recorded: _RecordedStep | None = None
        self._count = 0

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
        self._plain = self.trace(state).compiled(state)

    def _record(self, state: State) -> _RecordedStep | None:
        """One step as a CUDA graph; None where it cannot be one, since the host waits for a value in it."""
        generator = self._arguments[-1]
        generators = generator.generators if isinstance(generator, Streams) else [generator]
        before = [each.get_state() for each in generators]
        mode = torch.cuda.get_sync_debug_mode()
        torch.cuda.set_sync_debug_mode("error")
        try:
            after, _ = self._plain(state)
        except RuntimeError:
            return None
        finally:
            torch.cuda.set_sync_debug_mode(mode)
            for each, saved in zip(generators, before, strict=True):
                each.set_state(saved)
        return _RecordedStep(self._plain, state, generators) if _alike(state, after) else None


class _RecordedStep:
    """A step as a CUDA graph that reads its own copy of the state and puts the next state there."""

    def __init__(
        self,
        step: Step,
        state: State,
        generators: Sequence[torch.Generator],
    ) -> None:
        start = mapped(state, Tensor.clone)
        self._state, self._cached_by = list(tensors(start)), state.cached_by
        self._graph = torch.cuda.CUDAGraph()
        for generator in generators:
            self._graph.register_generator_state(generator)
        # Other threads of the program, such as the one that renews locks, may go on meanwhile.
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._result = step(start)
            self._packed = _packed(tensors(self._result))
            torch._foreach_copy_(self._state, list(tensors(self._result[0])))
        self._make = maker(self._result)
        self._sizes = {
            dtype: [each.numel() for each in tensors(self._result) if each.dtype == dtype]
            for dtype in self._packed
        }
        self._last: State | None = None

    def fits(self, state: State) -> bool:
        """Whether the recorded step is one from such a state."""
        if state is self._last:
            return True
        return state.cached_by == self._cached_by and same_form(tensors(state), self._state)

    def replay(self, state: State) -> tuple[State, Info]:
        """The step from `state`, in new tensors."""
        if state is not self._last:
            torch._foreach_copy_(self._state, list(tensors(state)))
        self._graph.replay()
        parts = {
            dtype: iter(torch.split(packed.clone(), self._sizes[dtype]))
            for dtype, packed in self._packed.items()
        }
        new = (next(parts[each.dtype]).view(each.shape) for each in tensors(self._result))
        made: tuple[State, Info] = self._make(new)
        self._last, _ = made
        return made


def _packed(values: Iterator[Tensor]) -> dict[torch.dtype, Tensor]:
    """All values of each dtype in a row, so that one copy takes them out."""
    by_dtype: dict[torch.dtype, list[Tensor]] = {}
    for each in values:
        by_dtype.setdefault(each.dtype, []).append(each.reshape(-1))
    return {dtype: torch.cat(parts) for dtype, parts in by_dtype.items()}


def _alike(one: State, other: State) -> bool:
    same = one.aux.keys() == other.aux.keys() and one.cached_by == other.cached_by
    return same and same_form(tensors(one), list(tensors(other)))
