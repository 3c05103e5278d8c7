"""The folder of results that the words of a command name, read as Hydra reads them: ``output_root=DIR``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner.execution.errors import UserError, nearest
from runner.execution.override_values import quoted

if TYPE_CHECKING:
    from omegaconf import DictConfig

KEY = "output_root"
ROOT = f"{KEY}="
FORCED = "++"

DEFAULT = Path("outputs")
"""Where results are unless a command says otherwise."""

REFERENCE = re.compile(r"(\\*)\$\{")
"""The sign that begins a reference, with the backslashes before it, which escape it."""

TIME = re.compile(r"(?<!\\)\$\{now:")
"""The sign that begins Hydra's reference to the time."""


def names_root(word: str) -> bool:
    """Whether a word is ``output_root=DIR``, or ``++output_root=DIR``."""
    return word.removeprefix(FORCED).startswith(ROOT)


def output_root(words: Sequence[str]) -> Path:
    """What the last ``output_root=DIR`` among `words` names, else `DEFAULT`; the other words are not read.

    Raises:
        UserError: where a value cannot be read, is no text, or refers to another key: there is none here.
    """
    given = [word.removeprefix(FORCED) for word in words if names_root(word)]
    if not given:
        return DEFAULT

    from runner.config.compose import parsed_override  # Hydra takes a quarter of a second

    value = [parsed_override(word).value() for word in given][-1]
    if not isinstance(value, str):
        shown = given[-1].removeprefix(ROOT)
        raise UserError(
            f"{KEY} must be one folder, in quotes if it looks like another value, {shown} was given."
        )
    return Path(_resolved(value)) if "${" in value else Path(value)


def _resolved(value: str) -> str:
    from omegaconf import OmegaConf
    from omegaconf.errors import GrammarParseError

    from runner.config.form import resolved_value, unresolved

    try:
        return str(resolved_value(OmegaConf.create({KEY: value}), KEY))
    except GrammarParseError as error:
        raise unresolved(KEY, error) from error


def check_one_folder(configs: Iterable[DictConfig]) -> None:
    """Refuses composed jobs whose results would lie in several folders, or in another one each time.

    Raises:
        UserError: naming the folders, or the value with the time in it.
    """
    found: dict[str, str] = {}
    for config in configs:
        found.setdefault(config[KEY], _as_written(config))
    if timed := [written for written in found.values() if TIME.search(written)]:
        raise UserError(
            f"{KEY} must not have the time in it, since the command would not find its results when it is "
            f"repeated, '{timed[0]}' was given."
        )
    if len(found) > 1:
        (one, written), (other, _), *_ = found.items()
        raise UserError(
            f"{KEY} must be one folder for all jobs, '{written}' was given, which is '{one}' and '{other}'."
        )


def check_searched_folder(config: DictConfig) -> None:
    """Refuses the composed first trial of a search whose folder may be another one in the next trial.

    Raises:
        UserError: with the value, which has the time in it or refers to another key.
    """
    from omegaconf.errors import OmegaConfBaseException

    check_one_folder([config])
    written = _as_written(config)
    try:
        _resolved(written)
    except (UserError, OmegaConfBaseException) as error:
        raise UserError(
            f"{KEY} must be one folder for all trials, '{written}' was given, which refers to another key."
        ) from error


def _as_written(config: DictConfig) -> str:
    """The value in a composed configuration before references in it are replaced."""
    from omegaconf import OmegaConf

    if not OmegaConf.is_interpolation(config, KEY):
        return str(config[KEY])
    alone = OmegaConf.to_container(OmegaConf.masked_copy(config, KEY), resolve=False)
    assert isinstance(alone, dict)
    return str(alone[KEY])


def only_output_root(words: Sequence[str], made: str) -> Path:
    """Like `output_root`, of a command that takes no other word.

    Args:
        made: how the sentence about another word begins, such as ``The report is made of``.

    Raises:
        UserError: for another word, or a value that cannot be read.
    """
    for word in words:
        key, _, value = word.removeprefix(FORCED).partition("=")
        if key != KEY or not value:
            hint = nearest(key, [KEY]) or "."
            raise UserError(f"{made} {ROOT}DIR alone, '{word}' was given{hint}")
    return output_root(words)


def results_of(words: Sequence[str], made: str) -> Path:
    """Like `only_output_root`, of a command that needs results.

    Raises:
        UserError: where the folder is not there, too.
    """
    root = only_output_root(words, made)
    check_there(root)
    return root


def check_there(root: Path) -> None:
    """Refuses a folder of results that is not there.

    Raises:
        UserError: with its name.
    """
    if not root.is_dir():
        raise UserError(f"{KEY} must be a folder with results, '{root}' was given, which is not there.")


def output_root_word(root: str | Path) -> str:
    """The override that says `root`."""
    text = REFERENCE.sub(lambda found: f"{found[1] * 2}\\${{", str(root))
    return f"{ROOT}{quoted(text)}"
