"""A sampler from its class and its settings: a kernel of numbers, or what tunes it.

A setting may be ``auto`` only here; the constructors of kernels take numbers. A class with several open
hyperparameters has `Settings` for all that a configuration says of it; `has_builder` registers another.
Any other kernel whose constructor takes a ``step_size`` (or what its `Kernel.step_name` says), a class of the
user's own too, needs nothing: its step size may be ``auto``, and a setting ``acceptance`` then says what it
is tuned to. For that

- its ``step_size`` may be a tensor that broadcasts over the batch axes (`Kernel.tensor_step_size`),
- it keeps its constructor's arguments as attributes of the same names, if it is to be tempered as well,
- a kernel that rejects nothing has an attribute ``adjusted``; its copy with ``adjusted = True`` rejects.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import typing
from collections.abc import Callable
from typing import Any

from samplers.hyperparameters import AUTO, positive_or_auto, wanted_acceptance
from samplers.kernel import Kernel
from samplers.kernel_family import takes_step_size
from samplers.tuning.builders import SETTINGS
from samplers.tuning.step_size_tuning import StepSizeTuning
from samplers.tuning.tunable import Settings, Tunable
from targets.checks import is_number

Builder = Callable[..., Kernel | Tunable]


def _from_settings(settings: type[Settings]) -> Builder:
    """The kernel that `settings` describe, or these where something is left open."""

    @functools.wraps(settings, updated=())
    def build(*kernel: Any, **given: Any) -> Kernel | Tunable:
        return settings(*kernel, **given).sampler()

    return build


def _at(path: str) -> Any:
    """The class at a dotted path."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


BUILDERS: dict[type[Kernel], Builder] = {
    _at(kernel): _from_settings(_at(settings)) for kernel, settings in SETTINGS.items()
}


def has_builder(cls: type[Kernel], builder: Builder) -> None:
    """Makes `builder`, a function of the settings that a configuration has, build `cls` from now on."""
    BUILDERS[cls] = builder


def builder_of(cls: Callable[..., Any]) -> Callable[..., Any]:
    """What builds `cls` from a configuration's settings; its signature says which there are."""
    if not isinstance(cls, type) or not issubclass(cls, Kernel):
        return cls
    if cls in BUILDERS:
        return BUILDERS[cls]
    return _with_open_step_size(cls) if takes_step_size(cls) else _of_numbers(cls)


def configured(cls: type[Kernel], *kernel: Kernel | Tunable, **settings: Any) -> Kernel | Tunable:
    """`cls` with these settings, any of which may be ``auto`` if it can be tuned.

    ::

        configured(DMALA, acceptance=0.6)
        configured(ParallelTempering, configured(DMALA), ladder="auto", step_size="auto")

    Args:
        cls: a kernel's class.
        kernel: the kernel that a tempering wrapper wraps.
        settings: the arguments of the constructor, and those of the tuning.

    Raises:
        ValueError: for a setting that is refused.
        TypeError: for one that does not exist.
    """
    sampler = builder_of(cls)(*kernel, **settings)
    assert isinstance(sampler, (Kernel, Tunable))
    return sampler


def _of_numbers(cls: type[Kernel]) -> Builder:
    """The constructor of `cls`, which takes kernels of numbers alone.

    A kernel inside whose step size is open gets the one that `cls` is given.
    """

    @functools.wraps(cls, updated=())
    def build(*kernels: Any, **settings: Any) -> Kernel:
        step_size = settings.get("step_size")
        inside = [_with_number(cls, kernel, step_size) for kernel in kernels]
        return cls(*inside, **{name: _with_number(cls, value, step_size) for name, value in settings.items()})

    return build


def _with_number(cls: type[Kernel], value: Any, step_size: Any) -> Any:
    if not isinstance(value, Tunable):
        return value
    if value.open == (value.example.step_name,) and is_number(step_size):
        return value.kernel_at({value.example.step_name: step_size})
    name = type(value.example).__name__
    raise ValueError(
        f"{cls.__name__} tunes nothing: {' and '.join(value.open)} of {name} must be given, 'auto' was given"
    )


def _with_open_step_size(cls: type[Kernel]) -> Builder:
    """The constructor of `cls`, whose step size may be ``auto``; that is its default if it has none."""
    parameters = inspect.signature(cls).parameters
    own_default = parameters[cls.step_name].default
    required = own_default is inspect.Parameter.empty

    def build(**settings: Any) -> Kernel | Tunable:
        acceptance = wanted_acceptance(settings.get("acceptance", cls.optimal_acceptance))
        if "acceptance" not in parameters:
            settings.pop("acceptance", None)
        step_size = settings.pop(cls.step_name, AUTO if required else own_default)
        if required:
            positive_or_auto(cls.step_name, step_size)
        if isinstance(step_size, str) and step_size == AUTO:
            return StepSizeTuning(cls, settings, acceptance)
        constructor: Builder = cls
        return constructor(**{cls.step_name: step_size}, **settings)

    build.__signature__ = _open_signature(cls)  # type: ignore[attr-defined]
    return build


def _open_signature(cls: type[Kernel]) -> inspect.Signature:
    """The signature of `cls` by keyword, with an ``acceptance``, and ``auto`` for a missing step size."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    found = {
        name: parameter if parameter.kind is parameter.VAR_KEYWORD else parameter.replace(kind=keyword)
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.kind is not parameter.VAR_POSITIONAL and name != "adjusted"
    }
    step_size = found[cls.step_name]
    if step_size.default is inspect.Parameter.empty:
        step_size = step_size.replace(default=AUTO)
    found[cls.step_name] = step_size.replace(annotation=_or_auto(cls, step_size.annotation))
    found.setdefault("acceptance", inspect.Parameter("acceptance", keyword, default=cls.optimal_acceptance))
    ordered = sorted(found.values(), key=lambda parameter: parameter.kind)
    return inspect.Signature(ordered)


def _or_auto(cls: type[Kernel], annotation: Any) -> Any:
    """The `annotation` of the step size of `cls`, which may be the text of one, with ``auto`` beside it."""
    try:
        return typing.get_type_hints(cls.__init__)[cls.step_name] | typing.Literal["auto"]
    except Exception:  # it may name anything, or be missing
        return annotation
