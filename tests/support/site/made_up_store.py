"""A store of runs that nobody computed, and the report that is made of it."""

from __future__ import annotations

from pathlib import Path

from runner.store.run_store import Store
from runner.store.written_config import written_settings
from runner.sweep.jobs import experiment_jobs, jobs_of, requested
from runner.tools.bench.report.synthetic_runs import synthetic_records, write_run

EXPERIMENT = """# @package _global_
# A small table.
experiment: made_up
sweep:
  grid: {target: [mog], target.components: [8, 16]}
  rows:
    - {row: DMALA, sampler: dmala, sampler.step_size: 5}
    - {row: PT-DMALA, sampler: pt_dmala, sampler.ladder: "[1,0.5,0]", sampler.step_size: "[5,10,20]"}
    - {row: "DMALA, step 80", sampler: dmala, sampler.step_size: 80}
    - {row: exact draws, sampler: exact_draws}
  overrides: {task.record: 4}
table:
  title: "Made Table 1: a small table"
  caption: For the tests.
  published:
    file: pt_dlp.csv
    versions:
      v1: {paper: pt-v1, table: Table 1}
      v2: {paper: pt-v2, table: Table 1}
  rows:
    - {row: DMALA, published: {v1: DMALA, v2: DMALA}}
    - {row: PT-DMALA, published: {v1: PTDLP, v2: PT-DMALA}, note: What PT-DMALA is.}
    - {row: "DMALA, step 80", role: variant}
    - {row: exact draws, role: draws}
  columns:
    - {label: eight, where: {target: mog, target.components: 8}, published: MoG c=8}
    - {label: sixteen, where: {target: mog, target.components: 16}, published: MoG c=16}
  metrics:
    - metric: kl
      name: KL <nats> & more
      direction: min
      scale: 1.0e-2
      published: {v1: KL, v2: KL}
    - {metric: emc, name: EMC, direction: max}
  figures:
    - name: figure
      across: 2
      panels:
        - {kind: heat_map, title: DMALA, row: DMALA, columns: [eight]}
        - {kind: repeats, title: seeds, metric: emc, columns: [eight]}
"""
METRICS = ("kl", "emc", "acceptance", "rhat")
DAMAGED, FAILED, TWIN, LOST = ("00000000000000d1", "00000000000000f1", "00000000000000e1", "00000000000000c1")


def made_up_store(folder: Path) -> tuple[Path, list[str]]:
    """A store in `folder`, and the overrides that make its experiment known.

    It holds 23 of the 24 runs of an experiment, a grid of 12 runs over two samplers and step sizes, and a run
    each that is damaged, has failed, has settings and seed of another, and has lost its configuration.
    """
    root, conf = folder / "outputs", folder / "conf"
    (conf / "experiment").mkdir(parents=True)
    (conf / "experiment" / "made_up.yaml").write_text(EXPERIMENT)
    hydra = [f"hydra.searchpath=[file://{conf}]"]
    store = Store(root)
    overrides = [*hydra, "scale=smoke", f"output_root={root}"]
    places = [
        (store.run(run_id), written_settings(job.config) | {"seed": seed})
        for job in experiment_jobs("made_up", overrides)
        for seed, run_id in job.run_ids.items()
    ]
    for number, (run, config) in enumerate(places[:-1]):
        write_run(run, config, synthetic_records(number, METRICS, points=4), visits=number == 0)
    grid = ["target=mog", "sampler=dmala,acs", "sampler.step_size=5,20,80", "seed=[0,1]", "task.record=4"]
    number = 100
    for job in jobs_of(requested([*grid, f"output_root={root}"], multirun=True)):
        for seed, run_id in job.run_ids.items():
            write_run(
                store.run(run_id),
                written_settings(job.config) | {"seed": seed},
                synthetic_records(number, METRICS, points=4),
            )
            number += 1
    config = places[0][1] | {"experiment": None}
    for run_id in (DAMAGED, FAILED, TWIN, LOST):
        write_run(store.run(run_id), config, synthetic_records(number, METRICS))
    flip(store.run(DAMAGED).path / "metrics.csv")
    (store.run(LOST).path / "config.yaml").write_text("not: [yaml")
    (store.run(FAILED).path / "summary.json").unlink()
    store.run(FAILED).fail({"error": "ValueError", "message": "no <b>good</b>", "status": "failed"})
    return root, hydra


def flip(path: Path) -> None:
    """Changes one bit of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
