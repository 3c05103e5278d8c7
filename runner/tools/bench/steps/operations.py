"""A GPU by proxy: operations of a step, what they move and compute, and the time that a roofline predicts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from samplers.compiling.counter_streams import CounterStreams
from samplers.kernel import Kernel
from samplers.stepper import Stepper
from targets import Streams, Target

LAUNCH = 5e-6
"""Seconds that the host takes to start an operation."""


@dataclass(frozen=True)
class Device:
    """Peak rates of a GPU in float32, by its maker's data sheet: bytes and operations a second."""

    bandwidth: float
    flops: float


DEVICES = {"A100 80 GB": Device(2.04e12, 19.5e12), "H100 SXM": Device(3.35e12, 67e12)}

WAITS = {"_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal"}
"""Operations for whose values or shapes the host waits."""

UNSEEN = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "detach", "lift_fresh"}
"""Operations that start nothing on a device, besides views."""


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts what is started in the ``with`` block.

    Attributes:
        moved: bytes that each operation reads and writes.
        computed: floating-point operations of each, those of matrix products.
        waits: how often the host waits for a value.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.moved: list[int] = []
        self.computed: list[int] = []
        self.waits = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        found = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name in WAITS or (name == "index" and _has_mask(args[1])):
            self.waits += 1
        if name not in UNSEEN and not func.is_view:
            read = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
            written = [each for each in tree_leaves(found) if isinstance(each, Tensor)]
            self.moved.append(sum(each.numel() * each.element_size() for each in (*read, *written)))
            self.computed.append(_products(name, args, written))
        return found

    def seconds(self, device: Device, launch: float = LAUNCH) -> float:
        """Of one after the other: for each the longest of starting it, moving its bytes and computing."""
        return sum(
            max(launch, moved / device.bandwidth, computed / device.flops)
            for moved, computed in zip(self.moved, self.computed, strict=True)
        )


def _has_mask(indices: Any) -> bool:
    return any(isinstance(each, Tensor) and each.dtype == torch.bool for each in indices)


def _products(name: str, arguments: tuple[Any, ...], written: list[Tensor]) -> int:
    """Two for each multiplication of a matrix product; 0 for other operations, which moving limits."""
    if name not in ("mm", "addmm", "bmm", "baddbmm", "mv", "addmv") or not written:
        return 0
    factor = [each for each in arguments if isinstance(each, Tensor)][-2]
    return 2 * math.prod(written[0].shape) * int(factor.shape[-1])


def operations(kernel: Kernel, target: Target, chains: int, seeds: int = 1) -> Operations:
    """Those of one step."""
    with torch.no_grad():
        step = _step(kernel, target, chains, seeds)
        for _ in range(2):
            step()
        found = Operations()
        with found:
            step()
    return found


def fused_operations(kernel: Kernel, target: Target, chains: int, seeds: int = 1) -> int:
    """How many loops and matrix products a compiled step has, with the draws before it."""
    from torch._inductor import metrics

    with torch.no_grad():
        metrics.reset()
        step = _step(kernel, target, chains, seeds, compiled=True)
        loops = int(metrics.generated_kernel_count)
        with Operations() as found:
            step()
    return loops + len(found.moved)


def _step(
    kernel: Kernel, target: Target, chains: int, seeds: int, *, compiled: bool = False
) -> Callable[[], None]:
    one = target.like().new_ones(())
    streams = (CounterStreams if compiled else Streams)(range(seeds), "bench")
    kernel = kernel.to(target.like()).prepared(target, one)
    state = kernel.init(target, target.initial((*kernel.axes, seeds, chains), streams), one)
    stepper = Stepper(kernel, target, one, streams)
    if compiled:
        stepper.compile(state)

    def step() -> None:
        nonlocal state
        state, _ = stepper(state)

    return step
