"""Tabular data by name, as `conf/tabular` describes it, for the targets that are made of rows.

A target whose configuration has a key `tabular` is constructed with the rows in its place. `split_seed` and
`rows`, beside it in the configuration, say which rows these are.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig

from runner.config.data.datasets import NOT_LOADED, option
from runner.config.data.known_files import added_identity, full_note, only_known, verifies
from runner.execution.errors import UserError, one_sentence

if TYPE_CHECKING:
    from targets.tabular.tabular_data import TabularData
    from targets.target import Target


def with_rows(described: Mapping[str, Any], root: Any, verify: bool = True) -> dict[str, Any]:
    """The node of a target with its rows in place of the keys that name them; unchanged without them.

    Raises:
        UserError: for a name or a number that is refused, or a set that is missing, damaged or not known.
    """
    if "tabular" not in described:
        return dict(described)
    own = {key: value for key, value in described.items() if key not in ("tabular", "split_seed", "rows")}
    split_seed, rows = described.get("split_seed", 0), described.get("rows")
    return own | {"tabular": load_tabular(described["tabular"], split_seed, root, rows, verify)}


def load_tabular(name: Any, split_seed: Any, root: Any, rows: Any = None, verify: bool = True) -> TabularData:
    """The set `name`, at most `rows` of its training and test rows; the last few stay in memory.

    Raises:
        UserError: if it is missing, damaged, of the wrong form, or a file is not known and `verify` is true.
    """
    from targets.datasets.dataset import DataError

    if not isinstance(split_seed, int) or isinstance(split_seed, bool) or not 0 <= split_seed < 2**32:
        raise UserError(
            f"target.split_seed must be a whole number from 0 to {2**32 - 1}, {split_seed!r} was given."
        )
    try:
        return _load(str(name), split_seed, None if root is None else str(root), verify).first(rows)
    except DataError as error:
        said = one_sentence(error).rstrip(".")
        raise UserError(f"{'target.' if said.startswith('rows ') else ''}{said}.") from error


def target_name(described: Mapping[str, Any]) -> str | None:
    """What results call a target that is made of rows; None for any other."""
    return f"{described.get('name')}/{described['tabular']}" if "tabular" in described else None


def notes(target: Target) -> tuple[str, ...]:
    """What must be said beside numbers of a target, because of its rows."""
    note = getattr(target, "note", None)
    return (str(note),) if note else ()


@functools.lru_cache(maxsize=8)
def _load(name: str, split_seed: int, root: str | None, verify: bool) -> TabularData:
    from runner.config.construct import locate

    spec = _described(name)
    arguments = {key: value for key, value in spec.items() if key not in NOT_LOADED}
    load = locate(spec["_target_"], f"conf/tabular/{name}._target_")
    with only_known(name, spec, root, verify):
        found: TabularData = load(root=root, split_seed=split_seed, **arguments)
    return replace(found, note=full_note(found.note, spec, root))


def unknown_rows(config: DictConfig, name: Any) -> dict[str, Any]:
    """What the set `name` adds to an identity, if `data.verify=false` and a file of it is not known.

    Raises:
        UserError: if there is no such set, or its files are not there or damaged.
    """
    return {} if verifies(config) else added_identity(str(name), _described(str(name)), config.data.root)


def _described(name: str) -> Mapping[str, Any]:
    return option("tabular", name, "target.tabular must be one of")
