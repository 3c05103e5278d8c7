"""A step as a CUDA graph."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch

from samplers.kernel import Info, State
from samplers.replay.kept_tensors import KeptTensors, copy_all
from samplers.tensor_tree import maker, same_form, tensors

Step = Callable[[State], tuple[State, Info]]


class RecordedStep:
    """A step as a CUDA graph: it reads a state from `KeptTensors`, and leaves the next one there.

    Args:
        step: what is recorded; it is called once, and may leave the next state in the tensors of the given.
        state: one of those from which the steps are taken.
        info: what a step from `state` says.
        generators: whose random numbers `step` takes.
    """

    def __init__(self, step: Step, state: State, info: Info, generators: Sequence[torch.Generator]) -> None:
        own = list(tensors(state))
        self._cached_by, self._kept = state.cached_by, KeptTensors([*own, *tensors(info)])
        self._state = self._kept.places[: len(own)]
        copy_all(self._state, own)
        start = maker(state)(iter(self._state))
        results: list[tuple[State, Info]] = []

        def work() -> None:
            results.append(step(start))
            self._kept.fill(list(tensors(results[-1])))

        self._graph = captured(work, generators)
        self._make = maker(results[-1])
        self._last: State | None = None

    def fits(self, state: State) -> bool:
        """Whether the recorded step is one from such a state."""
        if state is self._last:
            return True
        return state.cached_by == self._cached_by and same_form(tensors(state), self._state)

    def replay(self, state: State) -> tuple[State, Info]:
        """The step from `state`, in new tensors."""
        if state is not self._last:
            copy_all(self._state, list(tensors(state)))
        self._graph.replay()
        made: tuple[State, Info] = self._make(self._kept.copies())
        self._last, _ = made
        return made


def captured(work: Callable[[], None], generators: Sequence[torch.Generator]) -> torch.cuda.CUDAGraph:
    """What `work` starts on the current device, as a graph; `generators` are those whose numbers it takes."""
    graph = torch.cuda.CUDAGraph()
    for generator in generators:
        graph.register_generator_state(generator)
    # Other threads of the program, such as the one that renews locks, may go on meanwhile. A stream that
    # torch.cuda.graph has of its own is one of the device on which it was first used.
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    with _no_garbage(), torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
        work()
    return graph


@contextmanager
def _no_garbage() -> Iterator[None]:
    """Frees garbage before the block and none in it: CUDA refuses to free a graph while one is recorded."""
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
