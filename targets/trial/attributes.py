"""What an object remembers in its attributes, and which of them a call has changed."""

from __future__ import annotations

import functools
import itertools
import random
import types
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

DEPTH, ITEMS, ELEMENTS = 8, 1000, 10_000
"""How deep attributes are followed, and how many items of a container and of a tensor are looked at."""

PLAIN = (bool, int, float, complex, str, bytes)
NOT_FOLLOWED = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    functools.partial,
    weakref.ref,
    torch.device,
    torch.dtype,
)
OF_MODULE = ("_parameters", "_buffers", "_modules")
"""Where a module of torch keeps what its users see as attributes."""

EMPTY = "nothing"
Attributes = dict[str, Any]


def attributes(of: object) -> Attributes:
    """What `of` holds, by the path that leads there: ``{"proposal.step_size": 0.4}``.

    Numbers, text, tensors, arrays and random generators, also inside of containers and other objects; not
    what functions hold, nor what an object leaves out of its copies (`__getstate__`): that is a cache.
    """
    return dict(_items(of, "", DEPTH, set()))


def changed(before: Attributes, after: Attributes) -> str:
    """The first attribute that changed, and how: ``n from 1 to 2``; nothing for none.

    What was missing, None or empty before may be there now: it was made at its first use, as a table is.
    """
    for path, was in before.items():
        now = after.get(path, EMPTY)
        if was is None or was == EMPTY or _same(was, now):
            continue
        plain = all(isinstance(each, PLAIN) and len(repr(each)) < 30 for each in (was, now))
        return f"{path} from {was!r} to {now!r}" if plain and path in after else path
    return ""


class _Sampled(NamedTuple):
    """Some elements of a tensor, as bytes; of one with more, where it lies and how often it was changed."""

    form: str
    elements: bytes
    place: int | None
    version: int | None


def _same(was: Any, now: Any) -> bool:
    if isinstance(was, _Sampled) and isinstance(now, _Sampled):
        written = was.place == now.place and was.version != now.version
        return was[:2] == now[:2] and not written
    return type(was) is type(now) and repr(was) == repr(now)  # NaN is the same as NaN


def _items(value: object, path: str, depth: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Paths and values below `value`, each object once."""
    if value is None or isinstance(value, PLAIN):
        yield path, value
        return
    if depth == 0 or id(value) in seen or isinstance(value, NOT_FOLLOWED):
        return
    seen.add(id(value))
    with suppress(Exception):  # a tensor of another layout, a generator that cannot be read
        if (held := _held(value)) is not None:
            yield path, held
            return
    for part, below in _parts(value, path):
        yield from _items(below, part, depth - 1, seen)


def _held(value: object) -> Any:
    """The value of what is no container; None for others."""
    if isinstance(value, Tensor):
        return _sampled(value)
    if isinstance(value, np.ndarray):
        return _sampled(torch.from_numpy(value)) if value.dtype.kind in "biufc" else repr(value)
    if isinstance(value, np.generic | itertools.count):
        return repr(value)
    if isinstance(value, np.random.Generator):
        return "generator", hash(str(value.bit_generator.state))
    if isinstance(value, np.random.RandomState):
        return "generator", hash(str(value.get_state()))
    if isinstance(value, random.Random):
        return "generator", hash(value.getstate())
    return _sampled(value.get_state()) if isinstance(value, torch.Generator) else None


def _sampled(tensor: Tensor) -> _Sampled:
    found, number = tensor.detach(), tensor.numel()
    step = -(-number // ELEMENTS)
    if step > 1:
        places = torch.arange(0, number, step, device=found.device)
        found = found[torch.unravel_index(places, found.shape)]
    # A copy: torch no longer counts changes of memory that NumPy holds, too.
    copied = found.resolve_conj().resolve_neg().cpu().clone(memory_format=torch.contiguous_format)
    elements = copied.reshape(-1).view(torch.uint8)
    counted = step > 1 and not tensor.is_inference()
    return _Sampled(
        f"{tuple(tensor.shape)} {tensor.dtype}",
        elements.numpy().tobytes(),
        tensor.data_ptr() if counted else None,
        tensor._version if counted else None,
    )


def _parts(value: object, path: str) -> Iterator[tuple[str, Any]]:
    """What `value` holds, each with its path."""
    if isinstance(value, Mapping):
        for key, part in itertools.islice(value.items(), ITEMS):
            yield f"{path}[{key!r}]", part
        return
    if isinstance(value, list | tuple | set | frozenset | deque):
        yield f"the length of {path}", len(value) or EMPTY
        for place, part in enumerate(itertools.islice(value, ITEMS)):
            yield f"{path}[{place}]", part
        return
    for name, part in _own(value).items():
        if name in OF_MODULE and isinstance(part, dict):
            for own, below in part.items():
                yield _joined(path, own), below
        else:
            yield _joined(path, name), part


def _own(value: object) -> dict[str, Any]:
    """The attributes of an object that its copies have, too."""
    state: Any = None
    with suppress(Exception):
        state = value.__getstate__()
    if isinstance(state, tuple):  # of a class with __slots__
        state = {name: part for own in state if isinstance(own, dict) for name, part in own.items()}
    return {str(name): part for name, part in state.items()} if isinstance(state, dict) else {}


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
