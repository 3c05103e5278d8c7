"""What the runs of a table cost: budget as configured, wall clock and evaluations as measured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runner.tables.results import Results, Run


def _one_or_span(values: Iterable[int]) -> str:
    distinct = sorted(set(values))
    if len(distinct) == 1:
        return f"{distinct[0]:,}"
    return f"{distinct[0]:,} to {distinct[-1]:,}"


def _distinct(results: Results) -> list[Run]:
    """One run for each identity; a run that stands in two columns is counted once."""
    return list({run.run_id: run for run in results.runs}.values())


def budget_sentence(results: Results) -> str:
    """Chains, steps, burn-in, seeds and scale of the runs, as one sentence."""
    tasks = [run.config.task for run in results.runs]
    scales = sorted({str(run.config.scale.name) for run in results.runs})
    return (
        f"Budget ({', '.join(scales)}): {_one_or_span(task.chains for task in tasks)} chains, "
        f"{_one_or_span(task.steps for task in tasks)} steps of which "
        f"{_one_or_span(int(task.burn_in) for task in tasks)} are burn-in, start: "
        f"{' or '.join(sorted({str(task.start) for task in tasks}))}."
    )


def cost(results: Results) -> dict[str, Any]:
    """Wall clock of the runs and of their tuning (each tuning counted once), and what they ran on."""
    done = [run for run in _distinct(results) if run.summary is not None]
    tunings = {}
    for run in done:
        assert run.summary is not None
        tuning = run.summary.get("tuning")
        if tuning is not None:
            tunings[tuning["artefact"]] = float(tuning["seconds"])
    return {
        "runs": {"done": results.done, "expected": results.expected, "by_status": dict(results.counts)},
        "seconds": {
            "sampling": sum(float(run.summary["seconds"]) for run in done if run.summary),
            "tuning": sum(tunings.values()),
        },
        "evaluations_per_chain": {
            row: _one_or_span(
                int(run.summary["evaluations"]) for run in done if run.summary and run.row == row
            )
            for row in dict.fromkeys(run.row for run in done)
        },
        "seeds": sorted({run.seed for run in results.runs}),
    }
