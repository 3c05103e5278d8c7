"""Which runs an experiment consists of at a scale; composed once, since that takes seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

import conf
from runner.config.compose import parsed_override, searched
from runner.config.data.instance_files import file_digests
from runner.execution.errors import UserError
from runner.integrity.source import source_digest
from runner.site.index.store_index import Index
from runner.store.short_hash import own_code, short_hash
from runner.sweep.jobs import Job, experiment_jobs

FILE = "file://"
"""How a folder begins among the places of configurations."""


@dataclass(frozen=True)
class PlannedJob:
    """What a table needs to know of a job; see `runner.report.runs.job_places.JobLike`."""

    row: str
    config: DictConfig
    run_ids: dict[int, str]


def planned_jobs(experiment: str, overrides: Sequence[str], index: Index) -> list[PlannedJob]:
    """All jobs of an experiment, done or not.

    Raises:
        UserError: for an experiment that cannot be composed.
    """
    plan = _plan(experiment, overrides, index)
    if (composed := index.composed.pop(_key(experiment, overrides), None)) is not None:
        return [PlannedJob(job.row, job.config, job.run_ids) for job in composed]
    return [
        PlannedJob(
            each["row"],
            OmegaConf.create(each["config"]),
            {int(seed): run_id for seed, run_id in each["run_ids"].items()},
        )
        for each in plan
    ]


def planned_ids(experiment: str, overrides: Sequence[str], index: Index) -> list[str]:
    """The ids of all runs of an experiment, each once.

    Raises:
        UserError: for an experiment that cannot be composed.
    """
    found = [run_id for each in _plan(experiment, overrides, index) for run_id in each["run_ids"].values()]
    return list(dict.fromkeys(found))


def _plan(experiment: str, overrides: Sequence[str], index: Index) -> list[dict[str, Any]]:
    """The jobs in plain values, from the index where neither code nor files of the user have changed."""
    plans = index.kept.setdefault("plans", {})
    key = _key(experiment, overrides)
    found: list[dict[str, Any]] | None = plans.get(key)
    if found is None or any(map(_changed, found)):
        jobs = index.composed[key] = experiment_jobs(experiment, overrides)
        found = plans[key] = [_plain(job) for job in jobs]
    return found


def _key(experiment: str, overrides: Sequence[str]) -> str:
    return " ".join([experiment, *overrides])


def _plain(job: Job) -> dict[str, Any]:
    config = OmegaConf.to_container(job.config, resolve=True)
    assert isinstance(config, dict)
    ids = {str(seed): run_id for seed, run_id in job.run_ids.items()}
    return {"row": job.row, "config": config, "read": _read(config), "run_ids": ids}


def _read(config: Mapping[Any, Any]) -> dict[str, Any]:
    """What ids depend on besides the configuration: digests of the user's code and of the target's files."""
    return {"code": own_code(config), **file_digests(config.get("target") or {})}


def _changed(known: Mapping[str, Any]) -> bool:
    """Whether a job that was composed before would have other ids now."""
    try:
        return bool(known.get("read") != _read(known["config"]))
    except UserError:  # a file is gone; its runs are still those of the experiment
        return False


def version_of_code(hydra: Sequence[str] = ()) -> str:
    """Changes with the code, the shipped configurations and those in the folders that `hydra` names.

    Args:
        hydra: overrides of Hydra itself.
    """
    own = Path(__file__).parents[1]
    read = [
        *Path(conf.__path__[0]).rglob("*.yaml"),
        *(own / "templates").iterdir(),
        *(own / "static").iterdir(),
    ]
    read += [path for folder in _folders(hydra) for path in folder.rglob("*.yaml")]
    files = {str(path): [path.stat().st_size, path.stat().st_mtime_ns] for path in sorted(read)}
    return short_hash({"files": files, "source": source_digest()})


def _folders(hydra: Sequence[str]) -> list[Path]:
    """The folders with configurations that `hydra` names."""
    values: list[Any] = [parsed_override(line).value() for line in searched(hydra)]
    places = [str(place) for value in values for place in (value if isinstance(value, list) else [value])]
    return [Path(place.removeprefix(FILE)) for place in places if place.startswith(FILE)]
