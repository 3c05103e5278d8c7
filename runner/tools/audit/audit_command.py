"""``python -m runner.audit [output_root=DIR]``: measures every finding and writes the results."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from runner.config.output_root import only_output_root
from runner.execution.command_line import exit_statuses, reporting

USAGE = "usage: python -m runner.audit [output_root=DIR]"

STATUSES = {0: "every figure is in its expected interval", 1: "a figure is not, or a file was refused"}


@reporting
def main(arguments: Sequence[str]) -> int:
    """Runs the audit."""
    if {"-h", "--help"} & set(arguments):
        print(f"{USAGE}\n\n{(__doc__ or '').splitlines()[0]}\n\n{exit_statuses(STATUSES)}")
        return 0
    folder = only_output_root(arguments, "The audit is made with") / "audit"

    import torch

    from runner.files.atomic_files import write_text
    from runner.tools.audit.audit_page import audit_csv, audit_markdown, show_audit
    from runner.tools.audit.finding import measure_finding
    from runner.tools.audit.findings import FINDINGS
    from runner.tools.audit.picture import draw_swap_rules

    # The tensors are small: more threads would be slower.
    torch.set_num_threads(1)
    findings = [measure_finding(finding) for finding in FINDINGS]
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "audit.csv", audit_csv(findings))
    write_text(folder / "audit.md", audit_markdown(findings))
    draw_swap_rules({each.finding.key: each for each in findings}, folder / "swap_rules.png")
    console = Console(highlight=False)
    show_audit(findings, console)
    console.print(f"Written to {folder}: audit.csv, audit.md, swap_rules.png", soft_wrap=True)
    return 0 if all(figure.holds for each in findings for figure in each.figures) else 1
