"""A digest of the user's own code behind a class or a function: it belongs to what a run is, as data does.

Code of this project is in none: its numbers are held by tests, and `runner.integrity.source` notes it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any, NamedTuple

from runner.integrity.source import FLOORS

OURS = (*FLOORS, "conf")
INSTALLED = ("site-packages", "dist-packages")
"""Folders of installed packages, whose code changes only when they are installed anew."""


class _Module(NamedTuple):
    """A module of the user's: a digest of what its code means, and the names that it may import."""

    digest: str
    imports: list[str]


_read: dict[str, tuple[ModuleSpec | None, _Module]] = {}
"""What was read of each module, with the specification under which it was imported; None before that."""


def is_ours(cls: type) -> bool:
    """Whether a class belongs to this project, whose tests hold it."""
    return cls.__module__.partition(".")[0] in OURS


def code_digest(path: str) -> str | None:
    """First 16 hexadecimal digits of a SHA-256 of the code behind the dotted `path` of a class or function.

    The code is that of its module, of the packages that this lies in, and of all modules that these import at
    any depth. Comments, docstrings and layout do not count. Nothing is imported.

    Returns:
        None where all of it belongs to this project, to Python or to an installed package, and where there is
        no such module.
    """
    found: dict[str, str] = {}
    left, seen = [path], set[str]()
    while left:
        parts = left.pop().split(".")
        for end in range(1, len(parts) + 1):
            name = ".".join(parts[:end])
            if name in seen:
                continue
            spec = _found(name)
            if spec is None:
                break  # the rest is a class in the module before it, or nothing
            seen.add(name)
            if spec.origin is not None and Path(spec.origin).is_file():
                module = _as_imported(name, spec)
                found[name] = module.digest
                left += module.imports
    if not found:
        return None
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()[:16]


def _found(name: str) -> ModuleSpec | None:
    """Where the module `name` is, if it is the user's own; its packages are not imported."""
    top, *rest = name.split(".")
    if top in OURS or top in sys.stdlib_module_names:
        return None
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    for place in range(len(rest)):
        if spec is None or spec.submodule_search_locations is None:
            return None
        inside = ".".join((top, *rest[: place + 1]))
        spec = PathFinder.find_spec(inside, list(spec.submodule_search_locations))
    if spec is None or (spec.origin is not None and set(Path(spec.origin).parts) & set(INSTALLED)):
        return None
    return spec


def _as_imported(name: str, spec: ModuleSpec) -> _Module:
    """What the module is in this process: a file that was changed after its import does not count here."""
    loaded = getattr(sys.modules.get(name), "__spec__", None)
    under, module = _read.get(name, (None, None))
    # Two specifications of one file are equal: only the identity tells that a module was imported anew.
    if module is None or loaded is None or under is not loaded:
        assert spec.origin is not None
        path = Path(spec.origin)
        package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
        status = path.stat()
        module = _module(path, package, (status.st_mtime_ns, status.st_size))
    _read[name] = (loaded, module)
    return module


@functools.cache
def _module(path: Path, package: str, _stamp: tuple[int, int]) -> _Module:
    """The module in a file, read once for each time that the file was changed."""
    content = path.read_bytes()
    try:
        tree = ast.parse(content)
        meaning = repr(_meaning(tree)).encode()
    except (SyntaxError, ValueError, RecursionError):
        return _Module(hashlib.sha256(content).hexdigest(), [])
    return _Module(hashlib.sha256(meaning).hexdigest(), list(_imports(tree, package)))


def _meaning(node: Any) -> Any:
    """A syntax tree as nested lists, the same under all versions of Python; bare strings are left out."""
    if isinstance(node, list):
        return [_meaning(each) for each in node if not _is_text(each)]
    if not isinstance(node, ast.AST):
        return node
    fields = [(name, value) for name, value in ast.iter_fields(node) if value is not None and value != []]
    return [type(node).__name__, *((name, _meaning(value)) for name, value in fields)]


def _is_text(node: Any) -> bool:
    """Whether a statement is a string by itself, such as a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _imports(tree: ast.AST, package: str) -> Iterator[str]:
    """The names that a module in `package` imports; of some of them only the front is a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join(filter(None, (*above, node.module)))
            yield from (f"{base}.{alias.name}" for alias in node.names)
