"""YAML files on Hydra's search path: the user's are looked at before they are loaded, ours are read once."""

from __future__ import annotations

import functools
import os
import pickle
from pathlib import Path

import yaml
from hydra._internal.core_plugins import file_config_source, importlib_resources_config_source
from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult

from runner.execution.errors import UserError, reason

OURS = "conf"
"""The package of the configurations that do not change while a process runs."""

LARGEST = 2**20
"""Bytes of a file; the longest of ours has 10,000."""

MOST_VALUES = 100_000
"""Values in a file, those that ``*name`` repeats counted again."""

DEEPEST = 30
"""Groups and lists inside each other."""

STANDARD_TAG = "tag:yaml.org,2002:"
PLAIN = {f"{STANDARD_TAG}{kind}" for kind in ("str", "int", "float", "bool", "null", "seq", "map")}
"""Tags of plain values, the only ones that a configuration has."""


class FileConfigSource(file_config_source.FileConfigSource):
    """Hydra's source of files, with errors of one sentence that name the file and the line.

    It has the name of the class that it replaces, by which Hydra knows that it is registered.
    """

    def load_config(self, config_path: str) -> ConfigResult:
        path = Path(os.path.realpath(os.path.join(self.path, self._normalize_file_name(config_path))))
        try:
            if path.is_file():
                _check(path)
            return super().load_config(config_path)
        except yaml.MarkedYAMLError as error:
            line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
            raise UserError(f"'{path}' is no YAML: {line}{one_sentence_of(error)}.") from error
        except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
            raise UserError(f"'{path}' is no YAML: {reason(error).rstrip('.')}.") from error


class ImportlibResourcesConfigSource(importlib_resources_config_source.ImportlibResourcesConfigSource):
    """Hydra's source of packages, which parses a file of ours once in a process, not in every composition."""

    def load_config(self, config_path: str) -> ConfigResult:
        if self.path.partition(".")[0] != OURS:
            return super().load_config(config_path)
        # Hydra changes what it is given; a copy by pickle takes a fifth of one by deepcopy.
        found: ConfigResult = pickle.loads(_packaged(self.provider, self.path, config_path))
        return found


@functools.cache
def _packaged(provider: str, package: str, config_path: str) -> bytes:
    source = importlib_resources_config_source.ImportlibResourcesConfigSource(provider, f"pkg://{package}")
    return pickle.dumps(source.load_config(config_path))


def install() -> None:
    """Makes Hydra read files through the classes above."""
    _packaged.cache_clear()
    Plugins.instance()  # registers Hydra's own
    for source in (FileConfigSource, ImportlibResourcesConfigSource):
        SourcesRegistry.instance().types[source.scheme()] = source


def one_sentence_of(error: yaml.MarkedYAMLError) -> str:
    """What is wrong, without the lines that show where."""
    return " ".join(str(part).strip() for part in (error.context, error.problem) if part)


def _check(path: Path) -> None:
    """Refuses a file that is too large, too deep, or has tags of its own; nothing in it is constructed.

    Raises:
        UserError: naming the file and the limit.
    """
    size = path.stat().st_size
    if size > LARGEST:
        raise UserError(f"'{path}' has {size:,} bytes, a configuration has at most {LARGEST:,}.")
    repeated: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = []  # the anchor of each open group, and the values before it
    values = 0
    for event in yaml.parse(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader):
        tag = getattr(event, "tag", None)
        if tag is not None and tag not in PLAIN:
            line = event.start_mark.line + 1 if event.start_mark else 0
            raise UserError(f"'{path}', line {line}: a configuration has no tags, '{tag}' was given.")
        if isinstance(event, yaml.AliasEvent):
            values += repeated.get(str(event.anchor), 1)
        elif isinstance(event, yaml.ScalarEvent):
            values += 1
        elif isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, values))
            values += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            if anchor is not None:
                repeated[anchor] = values - before
        if len(open_) > DEEPEST:
            raise UserError(f"'{path}' must not have more than {DEEPEST} levels of nested groups or lists.")
        if values > MOST_VALUES:
            raise UserError(f"'{path}' must have at most {MOST_VALUES:,} values.")
