"""``python -m runner.exactness [overrides]``: is every sampler as exact as it claims to be?

Builds the transition matrix of each sampler, and draws 100,000 steps from each state to see that `step`
follows it.

Without overrides, checks every sampler in conf/sampler on small targets. Overrides:

- ``sampler=dmala sampler.step_size=3`` checks one sampler;
- ``sampler._target_=mypackage.MySampler +sampler.width=2`` checks a sampler of your own. It must be a
  `samplers.metropolis_hastings.MetropolisHastings`, adjusted or not, or have a method `log_transition`;
- ``target=bernoulli4`` uses this target instead of the small ones;
- ``output_root=DIR`` says where results go;
- ``--config-dir DIR`` adds a folder with your own configurations.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner.execution.command_line import OneSentenceParser, called, exit_statuses, reporting, with_config_dir

CRASHED = 3
"""Exit status where a sampler crashed and nothing worse was found."""

STATUSES = {
    0: "every claim holds",
    1: "a claim fails or could not be checked at all, or a step does not follow its matrix",
    CRASHED: "a sampler crashed, and all other claims hold",
}


@reporting
def main(arguments: Sequence[str], draws: int | None = None) -> int:
    """Checks the samplers, prints the table and writes it as CSV.

    Args:
        arguments: overrides, and ``--config-dir DIR``.
        draws: steps from each state; by default 100,000.
    """
    if {"-h", "--help"} & set(arguments):
        print(f"{(__doc__ or '').strip()}\n\n{exit_statuses(STATUSES)}")
        return 0
    parser = OneSentenceParser(prog=called("runner.exactness"), add_help=False)
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("--config-dir")
    given = parser.parse_intermixed_args(arguments)
    arguments = with_config_dir(given.overrides, given.config_dir)
    from itertools import product
    from pathlib import Path

    from rich.console import Console

    from runner.config.compose import compose_by_groups
    from runner.files.atomic_files import write_text
    from runner.sweep.jobs import requested
    from runner.tools.exactness.distances import distance
    from runner.tools.exactness.enumerable_targets import targets
    from runner.tools.exactness.exactness_page import exactness_csv, show_distances, unproved
    from runner.tools.exactness.kernel_variants import KernelVariant, variants
    from runner.tools.exactness.step_agreement import DRAWS

    request = requested(arguments, multirun=False, of_one="this command checks one sampler, or all of them")
    lines = [*request.hydra, *request.plans[0].overrides]
    config = compose_by_groups(lines, request.names.groups)
    listed = targets(arguments, config)
    draws = DRAWS if draws is None else draws
    groups: dict[str, list[KernelVariant]] = {}
    for variant in variants(arguments):
        groups.setdefault(variant.name, []).append(variant)
    distances = []
    with Console(stderr=True).status("") as doing:
        for (name, group), (space, target) in product(groups.items(), listed.items()):
            doing.update(f"{name} on {space}")
            distances.append(distance(group, space, target, draws))
    folder = Path(config.output_root) / "exactness"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "exactness.csv", exactness_csv(distances))
    console = Console(highlight=False)
    show_distances(distances, console, draws)
    console.print(f"Written to {folder / 'exactness.csv'}", soft_wrap=True)
    if any(d.fails for d in distances) or unproved(distances):
        return 1
    return CRASHED if any(d.crash for d in distances) else 0
