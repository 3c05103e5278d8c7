"""What stands behind a name of conf/: its class, its docstring, its keys, and what the class is known for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runner.catalogue.docstrings import Docstring
from runner.catalogue.source import Source, source_of
from runner.catalogue.yaml_files import Groups, Key
from samplers.tuning.builders import SETTINGS

CAPABILITIES = {
    "probabilities": "exact probabilities",
    "sample": "exact draws",
    "_sample": "exact draws at some sizes",
    "responsibilities": "modes",
    "noisy_log_prob": "minibatch estimates",
    "log_partition": "exact log Z",
    "log_prob_and_differences": "exact differences",
}
"""The member that shows a capability of `targets.target`, and what it is called.

A lattice or a tour, whose instances have `sample` only where they are small, defines it as `_sample`.
"""

INSIDE = "as the kernel"
"""How a tempered sampler's docstring says that a fact is that of the kernel inside."""


@dataclass(frozen=True)
class Entry:
    """A name of a group.

    Attributes:
        name: such as ``dmala``.
        summary: what it is, one sentence or two.
        source: the class or function behind it; None where there is none.
        kernel: the class of the kernel that a tempered sampler wraps; None for any other.
        keys: its settings.
    """

    name: str
    summary: str
    source: Source | None
    kernel: Source | None
    keys: list[Key]

    @property
    def docstring(self) -> Docstring:
        """Of the class or function."""
        return Docstring() if self.source is None else self.source.docstring

    @property
    def arguments(self) -> dict[str, str]:
        """What the docstrings say of each argument: of the kernel inside, of this, of what is tuned of it."""
        path = "" if self.source is None else f"{self.source.module}.{self.source.name}"
        settings = None if path not in SETTINGS else source_of(SETTINGS[path])
        said = [
            each.docstring.sections.get("Args", {}) for each in (self.kernel, self.source, settings) if each
        ]
        return {name: text for part in said for name, text in part.items()}

    @property
    def facts(self) -> dict[str, str]:
        """The facts of the docstring; of a tempered sampler, those of its kernel where it says so."""
        own = self.docstring.facts
        inner = {} if self.kernel is None else self.kernel.docstring.facts
        return {name: said.replace(INSIDE, inner.get(name, INSIDE)) for name, said in own.items()}

    @property
    def exact(self) -> bool:
        """Whether the sampler claims to leave its target invariant, as it is configured."""
        claimed = self.kernel or self.source
        return claimed is not None and bool(claimed.members().get("exact"))

    @property
    def offers(self) -> list[str]:
        """What a target can do besides giving a log density."""
        members = {} if self.source is None else self.source.members()
        return [text for member, text in CAPABILITIES.items() if member in members]

    def meaning(self, key: Key) -> str:
        """What a key means: its comment, or else what the docstring says of the argument."""
        return key.comment or self.arguments.get(key.path.rsplit(".", 1)[-1], "")


def entry_of(groups: Groups, group: str, name: str) -> Entry:
    """What stands behind `name`.

    Raises:
        UserError: if there is no such name, or no such class.
    """
    path = target_of(groups, group, name)
    source = None if path is None else source_of(path)
    kernel = inner_kernel_source(groups, name) if group == "sampler" else None
    summary = groups.header(group, name)
    if not summary and source is not None:
        summary = source.docstring.summary
        if kernel is not None:
            summary = f"`{source.name}` around `{kernel.name}`. {summary}"
    return Entry(name, summary, source, kernel, _own(groups.all_keys(group, name), group, name))


def target_of(groups: Groups, group: str, name: str) -> str | None:
    """The ``_target_`` of a name, its own or that of a file that it includes at its own place.

    None of a name of several metrics, such as `standard`: none of them speaks for all.
    """
    content: Mapping[str, Any] = groups.content(group, name)
    if group == "metric":
        return (content.get(name) or {}).get("_target_")
    if "_target_" in content:
        return str(content["_target_"])
    for one in groups.included(group, name):
        if not one.prefix and (found := target_of(groups, one.group, one.name)) is not None:
            return found
    return None


def inner_kernel_source(groups: Groups, name: str) -> Source | None:
    """The class of the kernel that a tempered sampler wraps; None for any other."""
    kernel = groups.content("sampler", name).get("kernel")
    if isinstance(kernel, dict) and "_target_" in kernel:
        return source_of(kernel["_target_"])
    for one in groups.included("sampler", name):
        path = target_of(groups, one.group, one.name) if one.prefix == "kernel." else None
        if path is not None:
            return source_of(path)
    return None


def _own(keys: list[Key], group: str, name: str) -> list[Key]:
    """The keys as the command line has them.

    Those of a metric stand below its name; a tempered sampler's own key in place of its kernel's.
    """
    if group == "metric":
        below = [key for key in keys if key.path.startswith(f"{name}.")]
        return [Key(key.path.removeprefix(f"{name}."), key.default, key.comment) for key in below]
    own = {f"kernel.{key.path}" for key in keys}
    return [key for key in keys if key.path not in own]
