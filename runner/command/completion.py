"""What may come next on a line of ``rungwise``, from the YAML files alone.

Hydra completes, too (``--shell-completion``), and is not used: it composes the configuration for that, knows
neither commands nor lists of values, and offers keys that the chosen option does not have.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from runner.catalogue.yaml_files import Groups, keys, known_groups
from runner.command.subcommands import COMMANDS
from runner.execution.errors import UserError

OVERRIDES = ("run", "table", "status", "sync", "verify", "wandb-sweep", "exactness")
"""The commands that take overrides."""

OF_EXPERIMENTS = {"table": ["runs"], "status": ["runs"], "sync": ["runs"], "verify": []}
"""The commands about an experiment, and the words that may stand in its place."""

FLAGS = {
    "run": ["--multirun", "--dry-run", "--cfg", "--resolve", "--package", "--info", "--config-dir", "--help"],
    "table": ["--record", "--extend", "--redraw", "--sort", "--all", "--config-dir", "--help"],
    "status": ["--config-dir", "--help"],
    "verify": ["--config-dir", "--help"],
    "sync": ["--again", "--workspace", "--report", "--config-dir", "--help"],
    "wandb-sweep": ["--method", "--help"],
    "report": ["--to", "--watch", "--port", "--config-dir", "--help"],
    "list": ["--config-dir", "--help"],
    "show": ["--config-dir", "--help"],
    "exactness": ["--config-dir", "--help"],
    "bench": ["--short", "--wandb-server", "--only", "--help"],
}
"""The flags of each command, ``--help`` alone where it is not here; of `run` those that a user needs."""

AFTER = {
    "--cfg": ["job", "hydra", "all"],
    "--method": ["bayes", "grid", "random"],
    "--info": ["all", "config", "defaults", "defaults-tree", "plugins", "searchpath"],
}
"""What follows a flag."""

FOLDERS = ("--config-dir", "--to")
"""Flags that a folder follows."""

PATHS = ("output_root", "data.root", "model", "target.model")
"""Keys that are paths."""

VALUES = {
    "device": ["auto", "cpu", "cuda"],
    "dtype": ["float32", "float64"],
    "streams": ["shared", "independent"],
    "hydra/launcher": ["basic", "joblib", "ray", "slurm"],
    "hydra/sweeper": ["basic", "optuna"],
    "task.start": ["random", "uniform", "one_mode", "exact"],
}
"""Keys whose values are in no file of conf/."""

NAMED = {"target.dataset": ["dataset"], "target.tabular": ["tabular"], "objective": ["metric"]}
"""Keys whose values are the names of groups."""

NO_GROUPS = ("dataset", "tabular", "experiment")
"""Folders of conf/ that are no groups of a run."""


def completions(line: str) -> list[str]:
    """The words that the last one on `line`, which ends at the cursor, may become."""
    words, current = _split(line)
    if not words:
        return _fitting(current, [*COMMANDS, "--help", "--version"])
    command, before = words[0], words[1:]
    last = before[-1] if before else ""
    if last in AFTER:
        return _fitting(current, AFTER[last])
    if last in FOLDERS:
        return list(_files(current, folders=True))
    if current.startswith("-"):
        return _fitting(current, FLAGS.get(command, ["--help"]))
    try:
        groups = known_groups(_config_dir(before))
    except UserError:
        return []
    return _fitting(current, _words(command, before, current, groups))


def _words(command: str, before: Sequence[str], current: str, groups: Groups) -> Iterable[str]:
    """What may follow the words `before` of a command."""
    if command == "list":
        from runner.catalogue.listing import KINDS

        return KINDS
    if command == "completion":
        return ["bash", "zsh", "fish"]
    if command == "show":
        shown = [group for group in groups.groups() if groups.names(group)]
        return _values(current, groups) if "=" in current else [f"{group}=" for group in shown]
    if command in OF_EXPERIMENTS and not before and "=" not in current:
        return [*groups.names("experiment"), *OF_EXPERIMENTS[command]]
    if command not in OVERRIDES:
        return _values(current, groups) if "=" in current else ["output_root="]
    chosen = _Chosen(groups, before)
    return _values(current, groups, chosen) if "=" in current else chosen.names(current)


class _Chosen:
    """The options that a line chooses, with the defaults of conf/config.yaml for the other groups."""

    def __init__(self, groups: Groups, words: Sequence[str]) -> None:
        self.groups = groups
        self.options: dict[str, list[str]] = {}
        entries = groups.content("", "config")["defaults"]
        given = [pair for entry in entries if isinstance(entry, dict) for pair in entry.items()]
        given += [(key.lstrip("+"), value) for key, _, value in (word.partition("=") for word in words)]
        for key, value in given:
            if key in self._groups():
                names = value if isinstance(value, list) else value.strip("[]").split(",")
                self.options[key] = [name for name in names if name in groups.names(key)]

    def _groups(self) -> list[str]:
        return [group for group in self.groups.groups() if group not in NO_GROUPS]

    def keys(self, group: str) -> dict[str, str]:
        """The keys of the options chosen of `group`, with their defaults."""
        found = (key for name in self.options.get(group, []) for key in self.groups.all_keys(group, name))
        return {f"{group}.{key.path}": key.default for key in found}

    def top(self) -> dict[str, str]:
        """The keys of the configuration that are in no group, with their defaults."""
        return {
            key.path: key.default
            for key in keys(self.groups.path("", "config"))
            if not key.path.startswith("hydra")
        }

    def names(self, current: str) -> Iterator[str]:
        """The keys and groups that a word may begin with."""
        sign = current[: len(current) - len(current.lstrip("+"))]
        if "." in current:
            group = current.lstrip("+").split(".", 1)[0]
            known = self.keys(group) if group in self.options else self.top()
            yield from (f"{sign}{key}=" for key, default in known.items() if default)
            return
        yield from (f"{sign}{group}=" for group in self._groups())
        yield from (f"{sign}{group}." for group in self.options if self.options[group])
        yield from ("hydra/launcher=", "hydra/sweeper=", "+experiment=")
        for key in self.top():
            yield f"{sign}{key}=" if "." not in key else f"{sign}{key.split('.', 1)[0]}."


def _values(current: str, groups: Groups, chosen: _Chosen | None = None) -> Iterator[str]:
    """The values that a word ``key=...`` may go on with; of a list, its last one."""
    key, _, given = current.partition("=")
    name = key.lstrip("+")
    if name in PATHS:
        yield from _files(given, before=f"{key}=")
        return
    cut = max(given.rfind(mark) for mark in "[,") + 1
    start, listed = f"{key}={given[:cut]}", given[:cut].strip("[").split(",")
    known = groups.ours if name in ("target.dataset", "target.tabular") else groups
    offered = VALUES.get(name) or [each for group in NAMED.get(name, [name]) for each in known.names(group)]
    if not offered and chosen is not None:
        default = (chosen.keys(name.split(".", 1)[0]) | chosen.top()).get(name, "")
        offered = ["true", "false"] if default in ("true", "false") else [default]
    yield from (f"{start}{each}" for each in offered if each and each not in listed and "$" not in each)


def _files(given: str, before: str = "", folders: bool = False) -> Iterator[str]:
    """Paths that begin with `given`; a folder ends in a slash."""
    start = given.rpartition("/")[0]
    for path in sorted(Path(start or ("/" if given.startswith("/") else ".")).glob("*")):
        if path.is_dir() or not folders:
            name = f"{given[: len(given) - len(given.rpartition('/')[2])]}{path.name}{'/' * path.is_dir()}"
            if name.startswith(given) and not (path.name.startswith(".") and not given):
                yield f"{before}{name}"


def _fitting(current: str, words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word for word in words if word.startswith(current)))


def _config_dir(words: Sequence[str]) -> str | None:
    """The folder that follows ``--config-dir``."""
    given = [after for word, after in pairwise(words) if word == "--config-dir"]
    return given[-1] if given else None


def _split(line: str) -> tuple[list[str], str]:
    """The whole words on a line behind the command's own, and the word at the cursor."""
    for ending in ("", "'", '"'):
        try:
            words = shlex.split(line + ending)
            break
        except ValueError:
            continue
    else:
        return [], ""
    words = words[1:]
    if not words or (line[-1:].isspace() and not ending):
        return words, ""
    return words[:-1], words[-1]
