"""What a command that repeats one job of an experiment says beside the keys of the experiment's sweep."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.core.override_parser.types import Override

from runner.config.experiments.experiment_file import experiment_content
from runner.config.experiments.plans import swept_keys
from runner.config.overrides import EXPERIMENT, Names


def beside_sweep(given: Sequence[Override], names: Names) -> list[Override]:
    """Those of `given`, of a command without -m, whose keys no sweep of its experiment has.

    Of the others one may change nothing in the job, as it does in the sweep.
    """
    named = [each for each in given if each.key_or_group == EXPERIMENT]
    if not named:
        return list(given)
    block = experiment_content(str(named[0].value()), names).get("sweep") or {}
    swept = swept_keys(block) if block.get("rows") else set()
    return [each for each in given if each.key_or_group not in swept]
