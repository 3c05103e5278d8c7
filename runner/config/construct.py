"""From a configuration node with a `_target_` to the object, with errors that name the key."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from runner.execution.errors import UserError, listed, nearest, one_sentence

RESERVED = ("_target_", "name")

Via = Callable[[Any], Any] | None


def locate(path: Any, key: str) -> Any:
    """The class or function at the dotted `path`.

    Raises:
        UserError: if it cannot be imported; `key` is what the user set.
    """
    if not isinstance(path, str) or "." not in path:
        raise UserError(f"{key} must be a class as package.module.Class, {path!r} was given.")
    parts = path.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:cut])
        try:
            found: Any = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
                continue
            raise UserError(
                f"{key}={path} cannot be imported: {module} needs {error.name}, which is not there."
            ) from error
        except Exception as error:
            raise UserError(
                f"{key}={path} cannot be imported: {type(error).__name__}: {one_sentence(error)}"
            ) from error
        for place, part in enumerate(parts[cut:]):
            if not hasattr(found, part):
                holder = ".".join(parts[: cut + place])
                raise UserError(
                    f"{key}={path} cannot be imported: {holder} has no '{part}'"
                    f"{nearest(part, dir(found)) or '.'}"
                )
            found = getattr(found, part)
        return found
    raise UserError(
        f"{key}={path} cannot be imported: there is no module '{parts[0]}' here; "
        "is its folder the current one, or in PYTHONPATH?"
    )


def arguments(node: Mapping[str, Any], key: str, via: Via = None) -> dict[str, Any]:
    """The constructor's arguments in `node`, with the nodes inside it that have a `_target_` constructed."""
    given: dict[str, Any] = {}
    for name, value in node.items():
        if name not in RESERVED:
            nested = isinstance(value, Mapping) and "_target_" in value
            given[str(name)] = construct(value, f"{key}.{name}", via=via) if nested else value
    return given


def construct(node: Mapping[str, Any], key: str, *leading: Any, via: Via = None) -> Any:
    """The object that `node` describes.

    Args:
        key: path of the node in the configuration, such as ``sampler`` or ``sampler.swap``.
        leading: positional arguments that come before those of the node.
        via: from a class to the function that builds it, where that is not its constructor.

    Raises:
        UserError: if the class cannot be imported, an argument does not fit its signature, or it refuses
            a value.
    """
    if node.get("_target_") is None:
        raise UserError(f"{key} has no _target_, the class to build.")
    path = node["_target_"]
    cls = locate(path, f"{key}._target_")
    if not callable(cls):
        raise UserError(f"{key}._target_={path} is no class but {type(cls).__name__}.")
    if via is not None:
        cls = via(cls)
    given = arguments(node, key, via)
    check_arguments(cls, given, key, str(path), len(leading))
    try:
        return cls(*leading, **given)
    except UserError:
        raise
    except ValueError as error:
        raise UserError(with_key(one_sentence(error), node, key)) from error
    except Exception as error:
        raise UserError(
            f"{key}: {path} cannot be built: {type(error).__name__}: {one_sentence(error)}"
        ) from error


def check_arguments(cls: Any, given: Mapping[str, Any], key: str, path: str, leading: int) -> None:
    """Refuses arguments that the signature of `cls` does not have, and missing ones.

    Raises:
        UserError: naming the argument, and what there is.
    """
    try:
        parameters = list(inspect.signature(cls).parameters.values())[leading:]
    except (TypeError, ValueError):
        return
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    names = [parameter.name for parameter in named]
    for name in given:
        if name not in names and not open_ended:
            hint = nearest(name, names)
            raise UserError(f"Unknown key '{key}.{name}'{hint or '.'} {path} takes: {listed(names)}.")
    for parameter in named:
        if parameter.default is parameter.empty and parameter.name not in given:
            raise UserError(f"{path} needs the key '{key}.{parameter.name}', which has no value.")


@contextmanager
def errors_at(key: str, node: Mapping[Any, Any], *also: type[Exception]) -> Iterator[None]:
    """Turns a ValueError, or one of `also`, about the settings in `node` at `key` into a `UserError`."""
    refused: tuple[type[Exception], ...] = (ValueError, *also)
    try:
        yield
    except refused as error:
        raise UserError(with_key(one_sentence(error), node, key)) from error


def with_key(sentence: str, node: Mapping[Any, Any], key: str) -> str:
    """`sentence` with its first word completed to the whole key, where that word is a key of `node`.

    Constructors say ``step_size must be ...`` and do not know that they are at ``sampler``.
    """
    if sentence.startswith(f"{key}."):
        return sentence if sentence.endswith((".", "?")) else f"{sentence}."
    first = sentence.split(" ", 1)[0].split("=", 1)[0]
    head = first.split(".", 1)[0]
    if head in node:
        sentence = f"{key}.{sentence}"
    elif head == key.rsplit(".", 1)[-1] and "." in key:
        sentence = f"{key.rsplit('.', 1)[0]}.{sentence}"
    else:
        sentence = f"{key}: {sentence}"
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."
