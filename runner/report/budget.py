"""What the runs of a table cost: budget as configured, wall clock and evaluations as measured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from omegaconf import DictConfig, OmegaConf

from runner.execution.progress import duration
from runner.report.stored_results import Results, Run

BUDGET = (
    *("steps", "chains", "burn_in", "start", "method", "cd_steps", "iterations", "batch", "ais"),
    *("buffer", "samples", "thinning", "autoencoder", "classifier", "grid", "box", "tau", "rho", "levels"),
)
"""Keys of a task that say what a run is given."""


def _one_or_span(values: Iterable[int]) -> str:
    distinct = sorted(set(values))
    if len(distinct) == 1:
        return f"{distinct[0]:,}"
    return f"{distinct[0]:,} to {distinct[-1]:,}"


def _distinct(results: Results) -> list[Run]:
    """One run for each identity; a run that stands in two columns is counted once."""
    return list({run.run_id: run for run in results.runs}.values())


def budget_sentence(results: Results) -> str:
    """What the runs and the models behind them are given, in a sentence or two."""
    configs = [run.config for run in results.runs]
    scales = ", ".join(sorted({str(config.scale.name) for config in configs}))
    learned = [config for config in configs if config.task.name == "learn"]
    sampled = [config for config in configs if config.task.name == "sample"]
    parts = [_learning(learned)] if learned else []
    parts += [_sampling([config.task for config in sampled])] if sampled else []
    imaged = [config for config in configs if "thinning" in config.task]
    parts += [_imaging([config.task for config in imaged])] if imaged else []
    gaps = [config.task for config in configs if config.task.name == "spectral_gap"]
    parts += [_eigenvalues(gaps)] if gaps else []
    both = [*sampled, *imaged]
    models = [config.target for config in both if config.target.get("training") is not None]
    said = [f"Budget ({scales}): {'; '.join(parts)}.", _training(models) if models else ""]
    return " ".join(part for part in (*said, _spent(results) if learned else "") if part)


def _spent(results: Results) -> str:
    """What the runs that are done have cost on what device; empty while none is."""
    done = [(run.summary, run.folder.manifest()) for run in _distinct(results) if run.summary is not None]
    devices = {str(manifest["device"]["name"]) for _, manifest in done if manifest is not None}
    if not devices:
        return ""
    training = sum(float(summary["seconds"]) for summary, _ in done)
    annealing = sum(float(summary["metrics"].get("ais_seconds") or 0.0) for summary, _ in done)
    return (
        f"Measured on {' and '.join(sorted(devices))}: {duration(training)} of training and "
        f"{duration(annealing)} of annealing, all runs together."
    )


def _sampling(tasks: list[DictConfig]) -> str:
    return (
        f"{_one_or_span(task.chains for task in tasks)} chains, "
        f"{_one_or_span(task.steps for task in tasks)} steps of which "
        f"{_one_or_span(int(task.burn_in) for task in tasks)} are burn-in, start: "
        f"{' or '.join(sorted({str(task.start) for task in tasks}))}"
    )


def _imaging(tasks: list[DictConfig]) -> str:
    return (
        f"{_one_or_span(task.samples for task in tasks)} images of "
        f"{_one_or_span(task.chains for task in tasks)} chains, one every "
        f"{_one_or_span(int(task.thinning) for task in tasks)} steps after "
        f"{_one_or_span(int(task.burn_in) for task in tasks)} of burn-in, start: "
        f"{' or '.join(sorted({str(task.start) for task in tasks}))}"
    )


def _eigenvalues(tasks: list[DictConfig]) -> str:
    on_grid = [task for task in tasks if task.method in ("ld", "reld", "mreld")]
    grids = f", on grids of {_one_or_span(int(task.grid) for task in on_grid)} points an axis"
    return "one eigenvalue a run" + (grids if on_grid else "")


def _learning(learned: list[DictConfig]) -> str:
    tasks = [config.task for config in learned]
    ais = [task.ais for task in tasks]
    # Machines have an annealing of their own, which is not repeated.
    again = [config.task.ais.repeats for config in learned if "n_hidden" not in config.target]
    return (
        f"{' or '.join(sorted({str(task.method).upper() for task in tasks}))} with "
        f"{_one_or_span(task.chains for task in tasks)} chains, "
        f"{_one_or_span(task.iterations for task in tasks)} iterations of "
        f"{_one_or_span(task.cd_steps for task in tasks)} steps in batches of "
        f"{_one_or_span(task.batch for task in tasks)}{_buffered(tasks)}; AIS with "
        f"{_one_or_span(_temperatures(each.temperatures) for each in ais)} temperatures and "
        f"{_one_or_span(each.chains for each in ais)} chains"
        f"{f', {_one_or_span(again)} times' if again else ''}"
    )


def _buffered(tasks: list[DictConfig]) -> str:
    """How many states the chains are taken from, where there is a replay buffer."""
    sizes = [task.buffer for task in tasks if task.get("buffer") is not None]
    return f", chains taken from a buffer of {_one_or_span(sizes)} states" if sizes else ""


def _temperatures(given: Any) -> int:
    """How many inverse temperatures: a number, or the list of them."""
    return int(given) if isinstance(given, (int, float)) else len(given)


def _training(models: list[DictConfig]) -> str:
    training, truth = [model.training for model in models], [model.ground_truth for model in models]
    method = " or ".join(sorted({f"{each.method.upper()}-{each.cd_steps}" for each in training}))
    return (
        f"Models: {_one_or_span(model.n_hidden for model in models)} hidden units, "
        f"{_one_or_span(each.iterations for each in training)} iterations of {method} in batches of "
        f"{_one_or_span(each.batch for each in training)}; truth: "
        f"{_one_or_span(each.steps for each in truth)} block-Gibbs steps of "
        f"{_one_or_span(each.chains for each in truth)} chains."
    )


def budget(config: DictConfig) -> dict[str, Any]:
    """The settings of a run's task that say what it is given."""
    task = OmegaConf.to_container(config.task, resolve=True)
    assert isinstance(task, dict)
    return {str(key): task[key] for key in BUDGET if key in task}


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
