"""What a command with ``hydra/sweeper=optuna`` searches; imports neither torch nor Optuna."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import Glob, Override, Transformer

import conf
from runner.config.choices import check_one_root, values_of
from runner.config.experiments.experiment_file import check_searched
from runner.config.overrides import Names, is_hydra, parse
from runner.execution.errors import UserError, unknown
from runner.files.plain_yaml import plain_yaml
from runner.sweep.search.objective import check_same_measure
from targets.checks import whole_number

NAME, KEYS = "optuna", "hydra.sweeper."


@dataclass(frozen=True)
class Search:
    """What a command searches.

    Attributes:
        lines: overrides that all trials share.
        space: the keys that are searched.
        trials: how many trials there are in all.
        seed: of the search.
    """

    lines: list[str]
    space: dict[str, Override]
    trials: int
    seed: int


def wanted_search(lines: Sequence[str]) -> Search | None:
    """The search that a command asks for; None where it asks for another sweeper.

    Raises:
        UserError: for a sweep over output roots, a table of an experiment, seeds that are no list, where
            Optuna is not installed, for a key or value of the sweeper that is refused, or where nothing is
            searched.
    """
    every = parse(lines)
    for each in every:
        check_one_root(each)
        check_same_measure(each)
    check_searched(every, Names([each.input_line or "" for each in every if is_hydra(each)]))
    given = list({each.get_key_element(): each for each in every}.values())
    if not any(each.key_or_group == "hydra/sweeper" and each.value() == NAME for each in given):
        return None
    if importlib.util.find_spec(NAME) is None:
        raise UserError("hydra/sweeper=optuna needs Optuna: pip install -e '.[optuna]'.")
    settings: dict[str, Any] = dict(
        plain_yaml((Path(conf.__path__[0]) / "hydra/sweeper/optuna.yaml").read_bytes())
    )
    shared, space = [], {}
    for each in given:
        key = each.key_or_group
        if key.startswith(KEYS):
            if key.removeprefix(KEYS) not in settings:
                raise unknown("key", key, [KEYS + name for name in settings])
            settings[key.removeprefix(KEYS)] = each.value()
        elif key == "hydra/launcher" and each.value() != "basic":
            raise UserError("hydra/sweeper=optuna needs hydra/launcher=basic: it computes trials one by one.")
        elif key == "hydra/sweeper":
            continue
        elif each.is_sweep_override() and key != "seed" and not is_hydra(each):
            space[each.get_key_element()] = each
        else:
            shared.append(_seeds(each))
    if not space:
        raise UserError(
            "hydra/sweeper=optuna searches intervals or several values: sampler.step_size=interval(1,400)."
        )
    try:
        trials, seed = (
            whole_number("n_trials", settings["n_trials"]),
            whole_number("seed", settings["seed"], 0),
        )
    except ValueError as error:
        raise UserError(f"{KEYS}{error}.") from error
    return Search(shared, space, trials, seed)


def _seeds(override: Override) -> str:
    """The override; several seeds become one list, which a trial computes together."""
    line = override.input_line or ""
    if override.key_or_group != "seed" or not override.is_sweep_override():
        return line
    if override.is_interval_sweep() or isinstance(override.value(), Glob):
        raise UserError(f"seed takes whole numbers, such as seed=0,1 or seed=range(0,5); '{line}' was given.")
    return f"seed=[{','.join(values_of(override, Transformer.str))}]"
