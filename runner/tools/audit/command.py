"""``python -m runner.audit [output_root=DIR]``: measures every finding and writes what came out.

Exit status 0 when every figure lies in the interval that it is held to, 1 when one does not, 2 for a mistake
in the command.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from runner.execution.errors import UserError, nearest

USAGE = "usage: python -m runner.audit [output_root=DIR]"


def output_root(arguments: Sequence[str]) -> Path:
    """Where results go: ``output_root=DIR`` among the arguments, else ``outputs``.

    Raises:
        UserError: for any other argument.
    """
    root = "outputs"
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if key != "output_root" or not equals or not value:
            hint = nearest(key, ["output_root"]) or "."
            raise UserError(f"The audit takes output_root=DIR only, '{argument}' was given{hint}")
        root = value
    return Path(root)


def main(arguments: Sequence[str]) -> int:
    """Runs the audit."""
    if {"-h", "--help"} & set(arguments):
        print(f"{USAGE}\n\n{(__doc__ or '').splitlines()[0]}")
        return 0
    folder = output_root(arguments) / "audit"

    import torch

    from runner.execution.atomic_files import write_text
    from runner.tools.audit.audit_page import as_csv, as_markdown, show
    from runner.tools.audit.finding import Outcome
    from runner.tools.audit.findings import FINDINGS
    from runner.tools.audit.picture import draw

    def measured() -> Iterator[Outcome]:
        for finding in FINDINGS:
            start = time.perf_counter()
            figures = tuple(finding.measure())
            yield Outcome(finding, figures, time.perf_counter() - start)

    # The tensors are small: more threads would only wait for each other.
    torch.set_num_threads(1)
    outcomes = list(measured())
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "audit.csv", as_csv(outcomes))
    write_text(folder / "audit.md", as_markdown(outcomes))
    draw({outcome.finding.key: outcome for outcome in outcomes}, folder / "swap_rules.png")
    console = Console(highlight=False)
    show(outcomes, console)
    console.print(f"Written to {folder}: audit.csv, audit.md, swap_rules.png", soft_wrap=True)
    return 0 if all(figure.holds for outcome in outcomes for figure in outcome.figures) else 1
