"""How long the sampler itself took: the steps, without metrics, files and progress."""

from __future__ import annotations

import time

import torch


class Stopwatch:
    """Adds up the time between `start` and `stop`.

    On the CPU by the clock; on CUDA by events on the stream, read at `lap` alone, so that no step waits.

    Args:
        device: where the steps are computed.
    """

    def __init__(self, device: torch.device) -> None:
        self.cuda = device.type == "cuda"
        self._started = 0.0
        self._seconds = 0.0
        self._events: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []

    def start(self) -> None:
        """Before a step."""
        if self.cuda:
            self._events.append((_event(), _event()))
            self._events[-1][0].record()
        else:
            self._started = time.perf_counter()

    def stop(self) -> None:
        """After a step."""
        if self.cuda:
            self._events[-1][1].record()
        else:
            self._seconds += time.perf_counter() - self._started

    def lap(self) -> float:
        """Seconds since the last lap; on CUDA this waits for the device."""
        if self.cuda:
            torch.cuda.synchronize()
            self._seconds = sum(first.elapsed_time(last) for first, last in self._events) / 1000
            self._events.clear()
        seconds, self._seconds = self._seconds, 0.0
        return seconds


def _event() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
