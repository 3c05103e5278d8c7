"""``python -m runner.exactness [overrides]``: is every sampler as exact as it claims to be?

Without overrides every sampler in conf/sampler is checked. ``sampler=dmala sampler.step_size=3`` checks one;
``sampler._target_=mypackage.MySampler sampler.width=2`` one of your own, which must be a
`samplers.metropolis_hastings.MetropolisHastings` or `Unadjusted`, or give `log_transition`;
``target=bernoulli4`` takes that target instead of the small ones; ``output_root=DIR`` says where results go.

Exit status 0 when every claim holds, 1 when one fails or could not be checked at all, 2 for a mistake in the
command.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Checks the samplers, prints the table and writes it as CSV."""
    if {"-h", "--help"} & set(arguments):
        print((__doc__ or "").strip())
        return 0
    from pathlib import Path

    from rich.console import Console

    from runner.config.compose import compose_by_groups
    from runner.execution.atomic_files import write_text
    from runner.sweep.jobs import requested
    from runner.tools.exactness.distances import distance
    from runner.tools.exactness.enumerable_targets import targets
    from runner.tools.exactness.exactness_page import exactness_csv, show_distances, unproved
    from runner.tools.exactness.kernel_variants import KernelVariant, variants

    request = requested(arguments, multirun=False)
    lines = [*request.hydra, *request.plans[0].overrides]
    config = compose_by_groups(lines, request.names.groups)
    listed = targets(arguments, config)
    groups: dict[str, list[KernelVariant]] = {}
    for variant in variants(arguments):
        groups.setdefault(variant.name, []).append(variant)
    distances = [
        distance(group, space, target) for group in groups.values() for space, target in listed.items()
    ]
    folder = Path(config.output_root) / "exactness"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "exactness.csv", exactness_csv(distances))
    console = Console(highlight=False)
    show_distances(distances, console)
    console.print(f"Written to {folder / 'exactness.csv'}", soft_wrap=True)
    return 1 if any(d.fails for d in distances) or unproved(distances) else 0
