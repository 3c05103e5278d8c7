"""One step of a kernel as a graph of tensor operations, its random numbers among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, fx
from torch._guards import TracingContext, tracing
from torch._subclasses import FakeTensorMode
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from samplers.compiling.counter_streams import CounterStreams, NextNumbers
from samplers.compiling.differing_chains import FEW, share_differing
from samplers.compiling.look_ups import with_own_look_ups
from samplers.compiling.matrix_products import with_fast_products
from samplers.compiling.not_compiled import NotCompiledError, first_line, of_unknown_shape, operation
from samplers.compiling.noted_draws import GivenDraws, NotedDraws
from samplers.compiling.overwriting import overwriting
from samplers.compiling.truth_values import with_fast_truth_values
from samplers.kernel import Info, Kernel, State
from samplers.served import require_same_caches
from samplers.tensor_tree import maker, mapped, same_form, tensors
from targets.compiling.tracing import traced
from targets.target import Target

# At its first use autograd starts a thread for each device, and a process with such threads cannot compute
# gradients once it has forked. Tracing brings a device of its own, so that comes after.
torch.autograd.backward(torch.ones(1, requires_grad=True))

TRIED = 5
"""Compiled steps of which one must be the kernel's in half of the chains."""


class TracedStep:
    """A step from states like `state`, traced: a graph without breaks whose shapes are fixed.

    Args:
        kernel, target, beta, streams: what `Kernel.step` takes besides the state; no number of `streams` is
            used up. Parameters of the target may change in place.

    Attributes:
        graph: of the tensors of a state and `parts` to those of the result.
        parts: tensors that the step reads besides: parameters, inverse temperatures, tables, the keys of the
            random numbers and how many were drawn.

    Raises:
        NotCompiledError: if the step is no such graph.
    """

    def __init__(
        self, kernel: Kernel, target: Target, state: State, beta: Tensor, streams: CounterStreams
    ) -> None:
        noted = NotedDraws(streams)
        # What is made at first use is there by then.
        self._result: tuple[State, Info] = kernel.step(target, state, beta, noted)
        self._streams, self._calls = streams, len({draw.kind for draw in noted.draws})
        self._make = maker(self._result)
        # Tensors of the state, after which those of the info come.
        self._of_state = len(list(tensors(self._result[0])))
        self._last: tuple[State | None, Sequence[Tensor]] = None, ()
        self._cached_by = state.cached_by

        def step(start: State) -> tuple[State, Info]:
            numbers = NextNumbers(streams).numbers(noted.draws)
            return kernel.step(target, start, beta, GivenDraws(numbers))

        def flat(*inputs: Tensor) -> list[Tensor]:
            given = iter(inputs)
            start = mapped(state, lambda _: next(given))
            return list(tensors(step(start)))

        with traced():
            # A tensor that stands in two places of the state would be one input of the graph for both.
            inputs = [each.clone(memory_format=torch.contiguous_format) for each in tensors(state)]
            try:
                # Twice: what autograd does is traced first, and what is written in place is taken out then.
                self.graph = make_fx(functionalize(make_fx(flat)(*inputs), remove="mutations"))(*inputs)
                why = of_unknown_shape(self.graph)
            except OSError as error:  # torch makes it as soon as it is imported
                why = f"the folder TORCHINDUCTOR_CACHE_DIR cannot be used: {first_line(error)}"
            except (RuntimeError, TypeError, NotImplementedError) as error:
                why = operation(error)
            who = f"a step of {type(kernel).__name__} on {type(target).__name__} cannot be compiled"
            if why:
                raise NotCompiledError(f"{who}: {why}")
        self.parts = list(_lifted(self.graph))
        self._run: Callable[..., Sequence[Tensor]] = self.graph
        self._step, self._overwrites = step, False
        # A value that left the tensors was one number in the trace and would be that for ever.
        try:
            differs = self._differing(1) > FEW
        except (RuntimeError, ValueError, IndexError) as error:
            raise NotCompiledError(f"{who}: {first_line(error)}") from error
        if differs:
            raise NotCompiledError(f"{who}: it computes with NumPy, or on the host otherwise")

    def _differing(self, ahead: int) -> float:
        """In what share of the chains a step is not the kernel's; rounding alone changes few of them.

        Args:
            ahead: how many steps before it use up random numbers.
        """
        start = self._result[0]
        with self._streams.unused(), torch.no_grad():
            self._streams.calls += ahead * self._calls
            expected, (found, _) = self._step(start)[0], self(start)
        return share_differing(found, expected)

    def compiled(self, state: State, *, overwrites: bool = False) -> TracedStep:
        """This step with its graph compiled by TorchInductor, for states like `state` alone; takes no step.

        Args:
            overwrites: whether it shall be able to write the next state over the given one, where both have
                the same form (`overwrite`). Steps to new tensors then take a copy more.

        Raises:
            NotCompiledError: if the compiler, or its folder of compiled graphs, fails.
        """
        try:
            # Not by way of torch.compile, whose checks in front of every call take 0.05 to 0.13 ms.
            from torch._dynamo.utils import get_metrics_context
            from torch._inductor import compile as inductor

            with self._streams.unused(), torch.no_grad():
                inputs, graph = self._inputs(state), self.graph
                if overwrites := overwrites and same_form(tensors(state), list(tensors(self._result[0]))):
                    # A tensor may stand in two places of the state, where the next one has two.
                    inputs = self._set_apart(inputs)
                    graph = overwriting(graph, inputs, self._of_state)
                graph = with_own_look_ups(with_fast_truth_values(with_fast_products(graph)))
                # Without a context for tracing nothing is kept; without one for metrics, which torch.compile
                # makes as well, torch 2.6 fails where it finds a graph that was kept.
                context = TracingContext(FakeTensorMode(shape_env=ShapeEnv()))
                with tracing(context), get_metrics_context():
                    self._run = inductor(graph, inputs, options=_options())
                self._overwrites = overwrites
                self(state)
        except Exception as error:
            folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")
            raise NotCompiledError(
                f"the compiler failed: {first_line(error)}; if its folder of compiled graphs ({folder}) is "
                "damaged, remove it"
            ) from error
        # One chain may differ by rounding, though hardly in step after step.
        if all(self._differing(ahead) > 0.5 for ahead in range(1, TRIED + 1)):
            raise NotCompiledError("the compiler gave a step that is not the kernel's")
        return self

    @torch.no_grad()
    def __call__(self, state: State) -> tuple[State, Info]:
        """The step from `state`, in new tensors, with the next random numbers."""
        inputs = self._inputs(state)
        return self._taken(self._set_apart(inputs) if self._overwrites else inputs)

    @torch.no_grad()
    def overwrite(self, state: State) -> tuple[State, Info]:
        """The step from `state`, whose tensors hold the next state afterwards, with the next random numbers.

        In new tensors, if it was not compiled with `overwrites`.
        """
        return self._taken(self._inputs(state))

    def _set_apart(self, inputs: list[Any]) -> list[Any]:
        """With copies of the tensors of the state."""
        return [*(each.clone() for each in inputs[: self._of_state]), *inputs[self._of_state :]]

    def _taken(self, inputs: list[Any]) -> tuple[State, Info]:
        found = self._run(*inputs)
        if self._overwrites:
            found = [*inputs[: self._of_state], *found]
        made: tuple[State, Info] = self._make(iter(found))
        self._last = made[0], found[: self._of_state]
        self._streams.calls += self._calls
        return made

    def _inputs(self, state: State) -> list[Any]:
        """Those of the graph, whose strides must be the same at every call."""
        last, known = self._last
        # To look for the tensors of a state takes a tenth of a short step.
        if state is last:
            parts = known
        else:
            require_same_caches(state.cached_by, self._cached_by)
            parts = list(tensors(state))
        return [*map(Tensor.contiguous, parts), *self.parts]


def _options() -> dict[str, Any]:
    """Loops with many look-ups are computed on vectors, too, which TorchInductor takes for slower."""
    from torch._inductor import config

    known = hasattr(config.cpp, "enable_tiling_heuristics")  # not in old versions of torch
    return {"cpp.enable_tiling_heuristics": False} if known else {}


def _lifted(graph: fx.GraphModule) -> Iterator[Tensor]:
    """The tensors that `graph` holds, which become its last inputs, so that changes in place are seen."""
    last = [node for node in graph.graph.nodes if node.op == "placeholder"][-1]
    inputs: dict[Any, fx.Node] = {}
    for node in list(graph.graph.nodes):
        if node.op != "get_attr":
            continue
        if node.target not in inputs:
            with graph.graph.inserting_after(last):
                last = inputs[node.target] = graph.graph.placeholder(f"{node.name}_part")
            part = getattr(graph, node.target).detach()
            last.meta = {"val": part}
            yield part
        node.replace_all_uses_with(inputs[node.target])
        graph.graph.erase_node(node)
    graph.graph.lint()
    graph.recompile()
