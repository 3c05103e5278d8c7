"""Experiments of one row, and runs of them that nobody computed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runner.store.run_store import Store
from runner.store.written_config import written_settings
from runner.sweep.jobs import experiment_jobs
from runner.tools.bench.report.synthetic_runs import synthetic_records, write_run

CONTENT = """# @package _global_
# A few runs.
experiment: {name}
sweep: {{rows: [{{row: A, sampler: gibbs, target: bernoulli4}}], seeds: {{smoke: 3}}}}
table:
  title: {name}
  caption: For the test.
  rows: [{{row: A}}]
  columns: [{{label: four, where: {{target: bernoulli4}}}}]
  metrics: [{{metric: kl, name: KL, direction: min}}]
  figures: [{{name: figure, panels: [{{kind: intervals, title: KL, metric: kl, columns: [four]}}]}}]
"""


def experiments(conf: Path, *names: str) -> list[str]:
    """Writes experiments of these names; the overrides that make them known."""
    (conf / "experiment").mkdir(parents=True, exist_ok=True)
    for name in names:
        (conf / "experiment" / f"{name}.yaml").write_text(CONTENT.format(name=name))
    return [f"hydra.searchpath=[file://{conf}]"]


def compute(
    root: Path, hydra: Sequence[str], name: str, *overrides: str, first: int = 0, label: str | None = None
) -> list[str]:
    """Writes the runs of an experiment at `smoke`; their ids.

    Args:
        first: another number, other values.
        label: the experiment that computed them; `name` by default, and empty for none.
    """
    (job,) = experiment_jobs(name, [*hydra, "scale=smoke", *overrides, f"output_root={root}"])
    config = written_settings(job.config) | {"experiment": name if label is None else label or None}
    for number, (seed, run_id) in enumerate(job.run_ids.items(), first):
        write_run(Store(root).run(run_id), config | {"seed": seed}, synthetic_records(number, ("kl",)))
    return list(job.run_ids.values())
