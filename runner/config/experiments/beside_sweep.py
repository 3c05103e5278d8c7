"""What a command that repeats one job of an experiment says beside the experiment's sweep."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.core.override_parser.types import Override

from runner.config.experiments.experiment_file import named_sweep
from runner.config.experiments.override_meaning import meaning
from runner.config.experiments.plans import swept_lines
from runner.config.overrides import Names


def beside_sweep(given: Sequence[Override], names: Names) -> list[Override]:
    """Those of `given`, of a command without -m, that the sweep of its experiment does not say.

    What it says may change nothing in one of its jobs, which has it all the same.
    """
    if (named := named_sweep(given, names)) is None:
        return list(given)
    swept = swept_lines(named[1])
    return [each for each in given if meaning(each.input_line or "") not in swept]
