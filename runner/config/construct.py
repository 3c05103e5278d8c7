"""From a configuration node with a `_target_` to the object, with errors that name the key."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from runner.config.kinds import (
    PROJECT,
    Kinds,
    as_annotated,
    check_helper,
    check_kind,
    check_value,
    kinds_in,
    parameter_hints,
)
from runner.execution.errors import UserError, listed, nearest, one_sentence
from runner.execution.memory.memory_errors import failure_or_memory
from targets.trial.failures import STANDARD, failure, is_refusal

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
        except (Exception, SystemExit) as error:
            raise UserError(f"{key}={path} cannot be imported: {failure(error)}.") from error
        for place, part in enumerate(parts[cut:]):
            if not hasattr(found, part):
                holder = ".".join(parts[: cut + place])
                raise UserError(
                    f"{key}={path} cannot be imported: {holder} has no '{part}'"
                    f"{nearest(part, _names_in(found)) or '.'}"
                )
            found = getattr(found, part)
        return found
    hint = nearest(parts[0], _modules_in(each for each in sys.path if not _is_library(each)))
    hint = hint or "; is its folder the current one, or in PYTHONPATH?"
    raise UserError(f"{key}={path} cannot be imported: there is no module '{parts[0]}' here{hint}")


def _names_in(found: Any) -> list[str]:
    """What there is in a module or a class, with the modules of a package, whether imported or not."""
    return [*dir(found), *_modules_in(getattr(found, "__path__", ()))]


def _modules_in(folders: Iterable[str]) -> list[str]:
    return [each.name for each in pkgutil.iter_modules(list(folders))]


def _is_library(folder: str) -> bool:
    return folder.startswith(STANDARD) or "site-packages" in folder


def class_at(node: Mapping[str, Any], key: str, kinds: Kinds | None, owner: str = "") -> Any:
    """The class that `node`, which stands at `key`, names: one of `kinds`.

    Args:
        kinds: None where the parameter of the class at the path `owner`, which takes it, does not say.

    Raises:
        UserError: if there is none, it cannot be imported, or it is another.
    """
    path, where = node.get("_target_"), f"{key}._target_"
    if path is None:
        raise UserError(f"{key} has no _target_, the class to build.")
    found = locate(path, where)
    if kinds is None:
        check_helper(found, path, where, owner)
    else:
        check_kind(found, path, where, kinds)
    return found


def construct(node: Mapping[str, Any], key: str, kinds: Kinds, via: Via = None) -> Any:
    """The object that `node` describes.

    Nothing is called before every `_target_` in it is known to be a class that belongs where it stands.

    Args:
        key: path of the node in the configuration, such as ``sampler`` or ``sampler.swap``.
        kinds: what its class must be.
        via: from a class to the function that builds it, where that is not its constructor.

    Raises:
        UserError: if the class cannot be imported or is another, an argument does not fit its signature, or
            it refuses a value.
    """
    return _planned(node, key, class_at(node, key, kinds), via)()


def _planned(node: Mapping[str, Any], key: str, cls: Any, via: Via) -> Callable[[], Any]:
    """What makes the object that `node` describes, an instance of `cls`; all that can be checked is."""
    path = str(node["_target_"])
    build = cls if via is None else via(cls)
    hints = parameter_hints(cls, build)
    given = {str(name): value for name, value in node.items() if name not in RESERVED}
    nested: dict[str, Callable[[], Any]] = {}
    for name, value in list(given.items()):
        inside, kinds = f"{key}.{name}", kinds_in(hints.get(name))
        if isinstance(value, Mapping) and "_target_" in value:
            nested[name] = _planned(value, inside, class_at(value, inside, kinds, path), via)
        else:
            check_value(value, hints.get(name), inside)
            if not path.startswith(PROJECT):  # ours say more exactly what they take
                given[name] = as_annotated(value, hints.get(name), inside)
    check_arguments(build, given, key, path, 0)
    return lambda: _built(node, key, build, given | {name: make() for name, make in nested.items()})


def _built(node: Mapping[str, Any], key: str, build: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    try:
        return build(**given)
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        if is_refusal(error):
            raise UserError(with_key(one_sentence(error), node, key)) from error
        raise UserError(f"{key}: {node['_target_']} cannot be built: {failure_or_memory(error)}.") from error


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
