"""What the source of a class says of it, read without importing it: that takes torch, and seconds."""

from __future__ import annotations

import ast
import functools
import importlib.util
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.catalogue.docstrings import Docstring, docstring_parts
from runner.config.kinds import PROJECT
from runner.execution.errors import UserError

Definition = ast.ClassDef | ast.FunctionDef


@dataclass(frozen=True)
class Source:
    """A class or a function in its module.

    Attributes:
        module: dotted name of the module.
        name: of the class or function in it.
    """

    module: str
    name: str

    @property
    def definition(self) -> Definition:
        """Its node in the syntax tree.

        Raises:
            UserError: if the module has none of this name.
        """
        for node in _tree(self.module).body:
            if isinstance(node, Definition) and node.name == self.name:
                return node
        hint = f"; write {full}, where it is defined" if (full := _exported(self.module, self.name)) else ""
        raise UserError(f"{self.module} defines no class or function '{self.name}'{hint}.")

    @property
    def docstring(self) -> Docstring:
        """Its docstring; its constructor adds arguments, and its module stands in where it has none."""
        found = docstring_parts(ast.get_docstring(self.definition))
        for each in self.definition.body:
            if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                built = docstring_parts(ast.get_docstring(each))
                found.sections.setdefault("Args", {}).update(built.sections.get("Args", {}))
        return found if found.summary else docstring_parts(ast.get_docstring(_tree(self.module)))

    @property
    def module_note(self) -> str:
        """What the docstring of its module says beyond the first sentence."""
        return docstring_parts(ast.get_docstring(_tree(self.module))).body

    @property
    def family(self) -> Iterator[Source]:
        """The class and those that it inherits from, the nearest first; of a function, its result's."""
        node = self.definition
        if isinstance(node, ast.FunctionDef):
            bases = [node.returns] if node.returns is not None else []
        else:
            yield self
            bases = list(node.bases)
        for base in bases:
            named = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(named, ast.Name) and (found := self._sibling(named.id)) is not None:
                yield from found.family

    def _sibling(self, name: str) -> Source | None:
        """What `name` means in the module: a class of its own, or one that it imports from us or the user."""
        for node in _tree(self.module).body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                return Source(self.module, name)
            if isinstance(node, ast.ImportFrom) and _is_followed(node.module, self.module):
                assert node.module is not None
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return Source(node.module, alias.name)
        return None

    @property
    def arguments(self) -> set[str]:
        """The names of all arguments of the constructors of the class and of those that it inherits from."""
        return set().union(*(_arguments(node) for _, node in self.constructors))

    @property
    def own_arguments(self) -> set[str]:
        """The names of the arguments of its constructor, or of the nearest that it inherits."""
        return next((_arguments(node) for _, node in self.constructors), set())

    @property
    def constructors(self) -> Iterator[tuple[Source, ast.FunctionDef]]:
        """The class and those that it inherits from, with their constructors; a function is its own."""
        if isinstance(self.definition, ast.FunctionDef):
            yield self, self.definition
            return
        for source in self.family:
            for node in source.definition.body:
                if isinstance(node, ast.FunctionDef) and node.name in ("__init__", "__post_init__"):
                    yield source, node

    def literal(self, node: ast.expr) -> Any:
        """The value of a literal, or of a name that stands for one in the module; of a group its keys.

        None where it is neither.
        """
        if isinstance(node, ast.Name):
            return _constant(self.module, node.id)
        if isinstance(node, ast.Dict):
            return [self.literal(key) for key in node.keys if key is not None]
        try:
            return ast.literal_eval(node)
        except ValueError:
            return None

    def members(self) -> dict[str, Any]:
        """The names in the bodies of the class and its bases; a plain value is given, for all else None."""
        found: dict[str, Any] = {}
        for source in self.family:
            for node in source.definition.body:
                for name, value in _defined(node):
                    if found.get(name) is None:
                        found[name] = value
        return found


def _arguments(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}


def source_of(dotted: str) -> Source:
    """The class or function at a dotted path.

    Raises:
        UserError: if its module cannot be found.
    """
    module, _, name = dotted.rpartition(".")
    if _path(module) is None:
        raise UserError(
            f"There is no module '{module}' here; is its folder the current one, or in PYTHONPATH?"
        )
    return Source(module, name)


def _defined(node: ast.stmt) -> Iterator[tuple[str, Any]]:
    """The names that a statement in a class body defines, with the values of constants."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name, None
        return
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    value = getattr(node, "value", None)
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, _plain(value)


def _plain(node: ast.expr | None) -> Any:
    """The value of a constant, or of a tuple of constants and infinities; None of all else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=parts):
            return tuple(map(_plain, parts))
        case ast.UnaryOp(op=ast.USub(), operand=ast.expr() as of) if (value := _plain(of)) is not None:
            return -value
        case ast.Attribute(value=ast.Name(id="math"), attr="inf"):
            return math.inf
    return None


def _constant(module: str, name: str) -> Any:
    """The literal that `name` stands for in a module, in which it is defined or imported; else None."""
    for node in _tree(module).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and name in dict(_defined(node)):
            return Source(module, name).literal(node.value)
        if isinstance(node, ast.ImportFrom) and node.module and _is_followed(node.module, module):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _constant(node.module, alias.name)
    return None


def _is_followed(module: str | None, base: str) -> bool:
    """Whether bases are looked up in `module`: in ours, and in those of the package of `base`."""
    return module is not None and f"{module}.".startswith((*PROJECT, f"{base.split('.', 1)[0]}."))


def _exported(package: str, name: str) -> str | None:
    """The full path of a class that one of our packages exports in its ``__init__.pyi``."""
    path = _path(package)
    stub = None if path is None else path.with_suffix(".pyi")
    if stub is None or not stub.is_file():
        return None
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return f"{package}.{node.module}.{name}"
    return None


@functools.cache
def _path(module: str) -> Path | None:
    """The file of a module; imports the packages that it is in, and not the module itself."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


@functools.cache
def _tree(module: str) -> ast.Module:
    path = _path(module)
    assert path is not None
    return ast.parse(path.read_text(encoding="utf-8"))
