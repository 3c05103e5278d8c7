"""``python -m runner.exactness [overrides]``: is every sampler as exact as it claims?

Without overrides every sampler in conf/sampler is checked. ``sampler=dmala sampler.step_size=3`` checks one;
``sampler._target_=mypackage.MySampler sampler.width=2`` one of your own, which must be a
`samplers.metropolis_hastings.MetropolisHastings` or `Unadjusted`, or give `log_transition`;
``target=bernoulli4`` takes that target in place of the small ones, ``output_root=DIR`` says where results go.

Exit status 0 when every claim holds, 1 when one fails or could not be checked at all, 2 for a mistake in the
command.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from runner.command import reported


def main(arguments: Sequence[str]) -> int:
    """Checks the samplers, prints the table and writes it as CSV."""
    if {"-h", "--help"} & set(arguments):
        print((__doc__ or "").strip())
        return 0
    from pathlib import Path

    from rich.console import Console

    from runner.atomic import write_text
    from runner.compose import compose
    from runner.exactness.measure import distance
    from runner.exactness.report import as_csv, show, unproved
    from runner.exactness.targets import targets
    from runner.exactness.variants import Variant, variants
    from runner.sweep import requested

    request = requested(arguments, multirun=False)
    config = compose([*request.hydra, *request.plans[0].overrides])
    listed = targets(arguments, config)
    groups: dict[str, list[Variant]] = {}
    for variant in variants(arguments):
        groups.setdefault(variant.name, []).append(variant)
    distances = [
        distance(group, space, target) for group in groups.values() for space, target in listed.items()
    ]
    folder = Path(config.output_root) / "exactness"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "exactness.csv", as_csv(distances))
    console = Console(highlight=False)
    show(distances, console)
    console.print(f"Written to {folder / 'exactness.csv'}", soft_wrap=True)
    return 1 if any(d.fails for d in distances) or unproved(distances) else 0


if __name__ == "__main__":
    sys.exit(reported(lambda: main(sys.argv[1:])))
