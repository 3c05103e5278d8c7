"""Where configurations are found and how Hydra composes them, with its errors in one sentence."""

from __future__ import annotations

import functools
import pickle
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_module
from hydra.core.config_loader import ConfigLoader
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, GrammarParseError, OmegaConfBaseException

from runner.config.choices import LABEL, check_nesting, glob, sort
from runner.config.form import unresolved
from runner.config.sources import searched_files
from runner.config.sources.choice_cache import kept
from runner.config.sources.edited_files import forget_files, until_edited
from runner.config.tempering import folded
from runner.execution.errors import UserError, nearest, one_sentence

OF_A_COMMAND = ("retries", "fail_fast", "clean", "gpus", "seeds_per_job")
"""Keys of `sweep` that say how a command goes on; the others are an experiment's."""

CONFIG = "config"

UNEXPECTED = re.compile(r"(mismatched|extraneous|no viable).*? input ('.*?')(?: expecting|$)", re.DOTALL)
"""How the grammar of overrides says that a word or a sign cannot stand where it does."""

IN_A_CALL = re.compile(r"\w+(?:Error|Exception) while evaluating '.*?': (.*)", re.DOTALL)
"""How it says that ``range(a=1)`` cannot be called like this."""

QUOTED_LABEL = """a label with commas, brackets or = needs quotes of its own, 'row="DMALA, step 25"'"""


def searched(hydra_overrides: Sequence[str]) -> list[str]:
    """Those of Hydra's overrides that say where configurations are: a command that repeats a run has them."""
    return [line for line in hydra_overrides if line.startswith("hydra.searchpath=")]


def share(fraction: float, whole: Any, least: int = 0) -> Any:
    """The resolver ``${share:0.2,${task.steps}}``: a fraction of a whole number, rounded, at least `least`.

    Anything but a number gives 0; the check of the settings names the key that it came from.
    """
    number = isinstance(whole, (int, float)) and not isinstance(whole, bool)
    return max(least, round(fraction * whole)) if number and abs(whole) < 2**53 else 0


def power(base: Any, exponent: Any) -> Any:
    """The resolver ``${power:${target.epsilon},-2}``: a power of a positive number.

    Anything else is returned as it is; the check of the settings names the key that it came from.
    """
    number = isinstance(base, (int, float)) and not isinstance(base, bool) and 0 < base < 2.0**53
    return float(base) ** float(exponent) if number else base


OmegaConf.register_new_resolver("share", share, replace=True)
OmegaConf.register_new_resolver("power", power, replace=True)


def initialise() -> None:
    """Starts Hydra on the package `conf`, unless it runs already."""
    if not GlobalHydra.instance().is_initialized():
        forget_files()
        searched_files.install()
        initialize_config_module("conf", job_name="runner", version_base="1.3")


def loader() -> ConfigLoader:
    """The loader of configurations."""
    initialise()
    return GlobalHydra.instance().config_loader()


@contextmanager
def one_sentence_errors() -> Iterator[None]:
    """Turns errors of Hydra and OmegaConf into a `UserError`."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="provider=.* is not available")
            yield
    except UserWarning as error:
        place = str(error).split("path=", 1)[-1].removesuffix(" is not available.")
        raise UserError(f"hydra.searchpath names '{place}', which is not there.") from error
    except OverrideParseException as error:
        raise UserError(f"Cannot read the override '{error.override}': {_unreadable(error)}.") from error
    except RecursionError as error:
        raise UserError("The overrides, or a YAML that they name, are nested too deeply.") from error
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        raise UserError(error_in_words(error)) from error


def _unreadable(error: OverrideParseException) -> str:
    """Why Hydra cannot read an override."""
    why = one_sentence(error).split(" See ", 1)[0].rstrip(".")
    if "Exception:" in why:  # the words of the grammar's lexer
        return "after = there must be a value, in quotes if it has special characters"
    if found := UNEXPECTED.search(why):
        why = _unexpected(*found.groups())
    elif found := IN_A_CALL.search(why):
        why = found[1].replace(" Available: ", "; allowed: ")
    return f"{why}; {QUOTED_LABEL}" if str(error.override).lstrip("+").startswith(f"{LABEL}=") else why


def _unexpected(how: str, text: str) -> str:
    if text == "'<EOF>'":
        return "it ends where a value should follow"
    unclosed = f"{text} is not closed, or goes on with a sign that does not belong there"
    return unclosed if how == "no viable" else f"{text} does not belong there"


def error_in_words(error: BaseException) -> str:
    """The first lines of the messages of an error and of its cause."""
    parts = [
        str(each).strip().splitlines()[0] for each in (error, error.__cause__) if each and str(each).strip()
    ]
    said = ": ".join(dict.fromkeys(part.rstrip(".:") for part in parts))
    unknown = error.__cause__
    if isinstance(unknown, ConfigAttributeError) and isinstance(unknown.parent_node, DictConfig):
        return said + (nearest(str(unknown.key), list(map(str, unknown.parent_node))) or ".")
    return f"{said}."


def compose(overrides: Sequence[str]) -> DictConfig:
    """The configuration that `overrides` describe.

    Raises:
        UserError: if Hydra refuses them.
    """
    return folded(composed(overrides))


def compose_all(overrides: Sequence[str]) -> DictConfig:
    """Like `compose`, with Hydra's own settings at the key `hydra`."""
    initialise()
    with one_sentence_errors():
        return folded(hydra_compose(CONFIG, list(overrides), return_hydra_config=True))


def composed(overrides: Sequence[str]) -> DictConfig:
    """Like `compose`, with the group `tempering` still beside the sampler."""
    initialise()
    with one_sentence_errors():
        return hydra_compose(CONFIG, list(overrides))


def compose_by_groups(overrides: Sequence[str], groups: Collection[str]) -> DictConfig:
    """Like `compose`, but Hydra is asked once per choice of `groups` and plain values are set afterwards.

    A sweep has a hundred jobs and a handful of such choices; each composition takes a tenth of a second.
    """
    given = [parsed_override(line) for line in overrides]
    chosen = [o for o in given if o.key_or_group in groups or o.key_or_group.startswith("hydra")]
    values = [o for o in given if o not in chosen]
    if any(override.type is not OverrideType.CHANGE for override in values):
        return compose(overrides)
    config: DictConfig = pickle.loads(_job(tuple(override.input_line or "" for override in chosen)))
    with one_sentence_errors():
        for override in values:
            try:
                OmegaConf.update(config, override.key_or_group, override.value(), merge=True)
            except GrammarParseError as error:
                raise unresolved(override.key_or_group, error) from error
    return folded(config)


@functools.lru_cache(maxsize=4096)
def parsed_override(line: str) -> Override:
    """One override of a command line.

    Raises:
        UserError: if it cannot be read, or holds a sweep inside another value.
    """
    with one_sentence_errors():
        parser = OverridesParser.create(config_loader=loader())
        parser.functions.functions |= {"sort": sort, "glob": glob}
        (override,) = parser.parse_overrides([line])
    check_nesting(override)
    return override


@until_edited
def choice(overrides: tuple[str, ...]) -> dict[str, Any]:
    """What `overrides` of groups alone make, unresolved, composed once; not to be changed."""
    return kept(overrides, composed)


@until_edited
def _job(overrides: tuple[str, ...]) -> bytes:
    """A `choice` without an experiment's own blocks, which no job reads; pickled, the fastest copy."""
    content = {key: value for key, value in choice(overrides).items() if key != "table"}
    content["sweep"] = {key: content["sweep"][key] for key in OF_A_COMMAND}
    return pickle.dumps(OmegaConf.create(content, flags={"struct": True}))


@until_edited
def options(group: str, hydra_overrides: tuple[str, ...], *, groups: bool = False) -> list[str]:
    """Names in a configuration group, of options or (`groups`) of the groups inside it.

    Args:
        group: such as ``target`` or ``hydra/launcher``; empty for the top.
        hydra_overrides: those that change where configurations are looked for.
    """
    kind = ObjectType.GROUP if groups else ObjectType.CONFIG
    with one_sentence_errors():
        return loader().get_group_options(group, kind, overrides=list(hydra_overrides))
