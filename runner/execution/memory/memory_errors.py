"""Memory that is refused: one sentence that says what was computed, and what to make smaller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runner.execution.errors import RunError, counted
from targets.trial.failures import failure, own_line

NO_MEMORY = ("can't allocate memory", "out of memory")
"""What a RuntimeError of torch says where it gets no memory, of the CPU or of a device."""

AMOUNT = re.compile(r"allocate (\d[\d.]*) ?(bytes|[KMGTPE]iB)")
"""How torch and NumPy say how much they wanted."""


class NoMemoryError(RunError):
    """The memory, of the computer or of a device, does not hold what was asked for."""


def is_of_memory(error: BaseException) -> bool:
    """Whether there was no memory, in Python, NumPy or torch."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in NO_MEMORY)


def memory_error(
    error: BaseException, config: Mapping[str, Any] | None = None, seeds: int = 1
) -> NoMemoryError | None:
    """What to say where there was no memory, or None for an error of another kind.

    Args:
        config: of the runs that it happened to.
        seeds: how many of them were computed together.
    """
    if not is_of_memory(error):
        return None
    said, where = f"The memory{_missing(error)}", own_line(error)
    tried, smaller = _sizes(config or {}, seeds)
    if tried:
        said += f" for a batch of {counted(seeds, 'seed')} of {tried}"
    said += f" ({where})" * bool(where)
    return NoMemoryError(f"{said}; make {smaller} smaller, and repeat the command.")


def failure_or_memory(error: BaseException) -> str:
    """`failure`, without the words of an allocator where there was no memory."""
    if not is_of_memory(error):
        return failure(error)
    where = own_line(error)
    return f"the memory{_missing(error)}" + f" ({where})" * bool(where)


def _missing(error: BaseException) -> str:
    """How the sentence goes on that begins with the memory."""
    amount = AMOUNT.search(str(error))
    held = f"{_readable(*amount.groups())} more" if amount else "what was asked for"
    return f"{' of the GPU' * ('CUDA' in str(error))} does not hold {held}"


def _readable(number: str, unit: str) -> str:
    return f"{float(number) / 2**30:.3g} GiB" if unit == "bytes" else f"{number} {unit}"


def _sizes(config: Mapping[str, Any], seeds: int) -> tuple[str, str]:
    """What was computed for each seed, and what of it and of them can be made smaller."""
    task, sampler = config.get("task") or {}, config.get("sampler") or {}
    tried, smaller = "", []
    if "chains" in task:
        tried = f"{task['chains']} chains"
        smaller.append("task.chains")
    if "ladder" in sampler:
        ladder = sampler["ladder"]
        replicas = len(ladder) if isinstance(ladder, list) else sampler.get("replicas")
        tried += f" with {replicas} replicas" * (bool(tried) and isinstance(replicas, int))
        smaller.append("the number of replicas")
    if seeds > 1:
        smaller.append("the number of seeds")
    *others, last = smaller or ["what it computes"]
    return tried, f"{', '.join(others)} or {last}" if others else last
