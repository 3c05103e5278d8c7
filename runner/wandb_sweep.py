"""Writes the configuration of a W&B sweep whose agents start python -m runner.

``python -m runner.wandb_sweep target=mog sampler=dmala,acs 'sampler.step_size=interval(1,400)' > sweep.yaml``

Lists, ranges and ``glob(*)`` are tried value by value; ``interval(a,b)``, or ``tag(log,interval(a,b))``, is
searched. ``objective=tv`` says what is improved. Then: ``wandb sweep sweep.yaml``, ``wandb agent ID``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import yaml
from hydra.core.override_parser.types import Glob, Transformer

from runner.config.choices import check_one_root, values_of
from runner.config.output_root import check_searched_folder
from runner.config.overrides import Names, is_hydra, parse
from runner.config.rewritten import with_whole_numbers
from runner.execution.command_line import OneSentenceParser, called, reporting
from runner.execution.errors import UserError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

METHODS = ("bayes", "grid", "random")
COMMAND = ["${env}", "${interpreter}", "-m", "runner", "logger=wandb"]


def sweep_configuration(lines: Sequence[str], method: str | None = None) -> dict[str, Any]:
    """The configuration of a sweep over the values in the overrides `lines`.

    Args:
        method: ``bayes``, ``grid`` or ``random``; None for bayes where an interval is searched, else grid.

    Raises:
        UserError: for a name, a key or a value that is refused, a sweep over nothing, or a grid of intervals.
    """
    from runner.config.compose import compose
    from runner.config.experiments.experiment_file import check_searched
    from runner.config.values import seeds_of
    from runner.sweep.search.objective import KEY, check_same_measure, objective_of
    from runner.sweep.search.whole_keys import in_whole_numbers

    given = parse(lines)
    names = Names([override.input_line or "" for override in given if is_hydra(override)])
    check_searched(given, names)
    swept = [override for override in given if override.is_sweep_override() and not is_hydra(override)]
    if not swept:
        raise UserError("A sweep needs a key with several values or an interval, such as sampler=dmala,acs.")
    for each in swept:
        check_one_root(each)
        check_same_measure(each)
    parameters = {each.get_key_element(): _parameter(each, names) for each in swept}
    fixed = [each.input_line or "" for each in given if each not in swept]
    own = [line for line in fixed if line not in names.hydra]
    first = [*own, *(f"{key}={_written(_one(parameter))}" for key, parameter in parameters.items())]
    names.check(first)
    intervals = [each for each in swept if each.is_interval_sweep()]
    method = method or ("bayes" if intervals else "grid")
    if method not in METHODS:
        raise UserError(f"--method must be one of {', '.join(METHODS)}, '{method}' was given.")
    if method == "grid" and intervals:
        raise UserError(f"A grid needs values, '{intervals[0].input_line}' is an interval.")
    space = in_whole_numbers({each.get_key_element(): each for each in intervals}, [*names.hydra, *first])
    parameters |= {key: _parameter(each, names) for key, each in space.items()}
    config = compose([*names.hydra, *first])
    check_searched_folder(config)
    if len(seeds := seeds_of(config)) > 1:
        raise UserError(f"A trial of a W&B sweep has one seed, seed={seeds} was given; seed=0,1 is swept.")
    metric, goal = objective_of(config)
    # A trial that does not measure it is refused by its name.
    fixed = [*(line for line in fixed if not line.startswith(f"{KEY}=")), f"{KEY}={metric}"]
    return {
        "method": method,
        "metric": {"name": metric, "goal": goal},
        "parameters": parameters,
        "command": [*COMMAND, *fixed, "${args_no_hyphens}"],
    }


def _parameter(override: Override, names: Names) -> dict[str, Any]:
    """A parameter of W&B: several values, or an interval."""
    from runner.sweep.search.interval import search_interval

    swept: Any = override.value()
    if override.is_interval_sweep():
        found = search_interval(override)
        if found.whole and found.logarithmic:
            raise UserError(f"W&B searches whole numbers evenly, '{override.input_line}' has the tag log.")
        if found.whole:
            return {"distribution": "int_uniform", "min": int(found.low), "max": int(found.high)}
        uniform = "log_uniform_values" if found.logarithmic else "uniform"
        return {"distribution": uniform, "min": found.low, "max": found.high}
    if isinstance(swept, Glob):
        values = swept.filter(names.options(override.key_or_group))
        if not values:
            raise UserError(f"'{override.input_line}' is a sweep over nothing.")
        return {"values": values}
    key = override.get_key_element()
    values = values_of(override, Transformer.str)
    lines = with_whole_numbers([f"{key}={value}" for value in values], names)
    return {"values": [_passed(line, line.removeprefix(f"{key}=")) for line in lines]}


def _passed(line: str, text: str) -> Any:
    """A value as W&B passes it on unchanged: numbers and truth values as such, all else as written.

    Of what YAML takes `text` for, such as null, its agent makes the text of a Python object.
    """
    (override,) = parse([line])
    value = override.value()
    return value if isinstance(value, bool | int | float) else text


def _one(parameter: dict[str, Any]) -> Any:
    """A value of the parameter, for a look at its names."""
    return parameter["values"][0] if "values" in parameter else parameter["min"]


def _written(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@reporting
def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit status 2 for a mistake in the command."""
    parser = OneSentenceParser(
        prog=called("runner.wandb_sweep"),
        usage=f"{called('runner.wandb_sweep')} key=value ... [--method METHOD]",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("--method", help="bayes (the default for intervals), grid or random")
    given = parser.parse_intermixed_args(arguments)
    print(yaml.safe_dump(sweep_configuration(given.overrides, given.method), sort_keys=False), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
