"""What the runs of a table cost: budget as configured, wall clock and evaluations as measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf

from runner.config.construct import RESERVED
from runner.execution.reached import duration
from runner.report.runs.experiment_run import Run
from runner.report.runs.stored_results import Results
from runner.tasks.task import Task, span, spanned, task_of


def _distinct(results: Results) -> list[Run]:
    """One run for each identity, though it stands in two columns, or in a row of exact values, too."""
    return list({run.run_id: run for run in results.runs if run.exact_values is None}.values())


@dataclass(frozen=True)
class Planned:
    """What the tasks of a table's runs say of them before any is done.

    Attributes:
        random: whether a seed changes the numbers of any.
        budget: what the runs and the models behind them are given, in a sentence or two.
        spends: what finished runs have taken, see `Task.spends`, by the path of their task.
    """

    random: bool
    budget: str
    spends: dict[str, dict[str, str]]


def planned(results: Results) -> Planned:
    """Asks the tasks of `results`, whose modules take seconds to import."""
    # The seeds of a job share their configuration.
    configs = list({id(run.config): run.config for run in results.runs}.values())
    scales = ", ".join(sorted({str(config.scale.name) for config in configs}))
    by_task: dict[Task, list[DictConfig]] = {}
    for config in configs:
        by_task.setdefault(task_of(config), []).append(config)
    phrases = [phrase for task, own in by_task.items() if (phrase := task.budget(own))]
    models = [config.target for task, own in by_task.items() if task.uses_target for config in own]
    trained = [model for model in models if model.get("training") is not None]
    said = [
        f"Budget ({scales}): {'; '.join(phrases)}." if phrases else "",
        _training(trained) if trained else "",
    ]
    spends = {_path(own[0]): dict(task.spends) for task, own in by_task.items() if task.spends}
    return Planned(results.random, " ".join(filter(None, said)), spends)


def budget_sentence(results: Results, known: Planned | None = None) -> str:
    """What the runs and the models behind them are given, and what they have taken, in a few sentences.

    Args:
        known: what `planned` says of the runs, where that is known already.
    """
    known = known or planned(results)
    spent = [_spent(results, path, words) for path, words in known.spends.items()]
    return " ".join(filter(None, [known.budget, *spent]))


def _path(config: DictConfig) -> str:
    """The path of a run's task, which says what its class is without an import."""
    return str(config.task.get("_target_"))


def _spent(results: Results, path: str, words: Mapping[str, str]) -> str:
    """What the finished runs of a task have taken, and on what device; empty where none is finished."""
    own = [run for run in _distinct(results) if run.summary is not None and _path(run.config) == path]
    manifests = [run.folder.manifest() for run in own]
    devices = sorted({str(manifest["device"]["name"]) for manifest in manifests if manifest is not None})
    if not devices:
        return ""
    found = [{**run.summary["metrics"], **run.summary} for run in own if run.summary is not None]
    sums = {what: sum(float(each.get(name) or 0.0) for each in found) for name, what in words.items()}
    phrase = " and ".join(f"{duration(seconds)} of {what}" for what, seconds in sums.items())
    return f"Measured on {' and '.join(devices)}: {phrase}, all runs together."


def _training(models: list[DictConfig]) -> str:
    training = [model.training for model in models]
    reference = [model.ground_truth for model in models]
    method = " or ".join(sorted({f"{each.method.upper()}-{each.cd_steps}" for each in training}))
    return (
        f"Models: {spanned((model.n_hidden for model in models), 'hidden unit')}, "
        f"{spanned((each.iterations for each in training), 'iteration')} of {method} in batches of "
        f"{span(each.batch for each in training)}; reference sample: "
        f"{spanned((each.steps for each in reference), 'block-Gibbs step')} of "
        f"{spanned((each.chains for each in reference), 'chain')}."
    )


def budget(config: DictConfig) -> dict[str, Any]:
    """The settings of a run's task, which say what the run is given."""
    task = OmegaConf.to_container(config.task, resolve=True)
    assert isinstance(task, dict)
    return {str(key): value for key, value in task.items() if key not in RESERVED}


def cost_of_runs(results: Results) -> dict[str, Any]:
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
        "tunings": tunings,
        "evaluations_per_chain": {
            row: span(int(run.summary["evaluations"]) for run in done if run.summary and run.row == row)
            for row in dict.fromkeys(run.row for run in done)
        },
        "seeds": sorted({run.seed for run in results.runs}),
    }
