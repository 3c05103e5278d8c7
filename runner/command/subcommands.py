"""``rungwise COMMAND ...``: every command of this project under one name."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from runner.execution.errors import UserError, unknown
from runner.execution.memory.garbage import collect_once_imported

COMMANDS = {
    "run": ("runner.__main__", "one run, or with -m a sweep or an experiment; --dry-run shows the plan"),
    "table": ("runner.table", "the table of an experiment, or of any runs"),
    "status": ("runner.status", "which runs are done, and how long the others will take"),
    "report": ("runner.site.report_command", "pages of all results for a browser"),
    "list": ("runner.catalogue.listing", "all names: samplers, targets, metrics, temperings, tasks, ..."),
    "show": ("runner.catalogue.showing", "a name explained, its keys and their defaults: show sampler=acs"),
    "verify": ("runner.verify", "whether the results on disk are still what was written"),
    "verdicts": ("runner.verdicts.__main__", "a verdict on every published number, from recorded tables"),
    "sync": ("runner.wandb_sync", "a copy of the results on disk in Weights & Biases"),
    "wandb-sweep": ("runner.wandb_sweep", "the configuration of a sweep of Weights & Biases"),
    "exactness": ("runner.exactness", "whether every sampler is as exact as it claims"),
    "audit": ("runner.audit", "the defects of papers and released code, each measured"),
    "bench": ("runner.bench", "speed against plain implementations"),
    "completion": ("runner.command.shells", "shell code for the Tab key: completion bash|zsh|fish"),
}
"""The module whose `main` is the command, and what it does."""

IMPORTING = ("run", "table")
"""The commands that say when all is imported (`runner.execution.memory.garbage.imported`)."""

COMPLETE = "__complete"
"""What a shell calls: the line up to the cursor follows."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status: 2 for a mistake in the line."""
    if argv is None and "" not in sys.path:
        sys.path.insert(0, "")  # the current folder, where python -m finds packages of the user's own
    word, *rest = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if word in COMMANDS:
        if argv is None and word in IMPORTING:
            collect_once_imported()
        status: int = importlib.import_module(COMMANDS[word][0]).main(rest)
        return status
    from runner.execution.command_line import reported

    return reported(lambda: _of_its_own(word, rest))


def _of_its_own(word: str, rest: Sequence[str]) -> int:
    """What is said without a command: the use, the version, completions, or that there is no such command."""
    if word == COMPLETE:
        from runner.command.completion import completions

        print("\n".join(completions(rest[0] if rest else "")))
    elif word in ("-h", "--help", "help"):
        print(usage())
    elif word in ("-V", "--version"):
        from runner.execution.version import __version__

        print(f"rungwise {__version__}")
    elif "=" in word or word in ("-m", "--multirun"):
        raise UserError(f"A command comes first: rungwise run {word} ...")
    else:
        raise unknown("command", word, COMMANDS)
    return 0


def usage() -> str:
    """What ``rungwise --help`` prints."""
    lines = [f"  {name:<12} {line}" for name, (_, line) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: rungwise COMMAND ...",
            "",
            *lines,
            "",
            "rungwise COMMAND --help explains a command; rungwise --version prints the version.",
        ]
    )
