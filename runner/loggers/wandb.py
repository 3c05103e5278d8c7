"""Weights & Biases: one of its runs per run here, as a copy of the results on disk.

The logger never stops a run: without a network, or a key that the server takes, it goes on offline with one
sentence of warning, and `python -m runner.wandb_sync` makes the copy later from what is on disk.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import wandb

from runner.loggers.copied_runs import OFFLINE, CopiedRuns
from runner.loggers.open_run import OpenRun
from runner.loggers.run_names import run_name
from runner.loggers.wandb_connection import MODES, asked_mode, asked_tags, trouble, usable_mode
from runner.loggers.wandb_runs import WandbRuns
from targets.checks import one_of

if TYPE_CHECKING:
    from runner.store.arrays.pictures import Making

NOT_IN_PROJECTS = r"/\#?%:"
LONGEST_PROJECT = 128
"""What W&B refuses in the name of a project, when a run begins."""


@dataclass
class WandbLogger:
    """Copies runs to W&B, several at once: a batch of seeds is as many runs.

    Args:
        mode: ``"online"``, ``"offline"`` (written under `directory` for a later ``wandb sync``) or
            ``"disabled"``; None for WANDB_MODE, or else online.
        project: the W&B project; None for WANDB_PROJECT, or else ``rungwise``.
        entity: the W&B user or team; None for WANDB_ENTITY, or else the default of the key.
        group: groups runs; None for what the command gave that computed a run, or else the experiment and
            its scale.
        tags: tags of every run, besides its target, sampler, scale and papers, and those that it has
            already; empty for those of WANDB_TAGS.
        directory: where W&B keeps its own files, in the folder ``wandb``.
        base_url: the server; None for WANDB_BASE_URL, or else W&B's own.
        system: whether W&B measures the machine while a run is computed.

    Raises:
        ValueError: if the mode is unknown, W&B takes no project of this name, or a tag is empty or has more
            than 64 letters.
    """

    mode: Any = None
    project: str | None = None
    entity: str | None = None
    group: str | None = None
    tags: Sequence[str] | str = ()
    directory: str = "outputs"
    base_url: str | None = None
    system: bool = True

    def __post_init__(self) -> None:
        if self.mode is not None:
            one_of("mode", self.mode, MODES)
        self.tags = asked_tags(self.tags)
        self.mode = usable_mode(asked_mode(self.mode), self.base_url)
        self.project = self.project or os.environ.get("WANDB_PROJECT") or "rungwise"
        if set(self.project) & set(NOT_IN_PROJECTS) or len(self.project) > LONGEST_PROJECT:
            raise ValueError(
                f"project must be a name of at most {LONGEST_PROJECT} letters without "
                f"{' '.join(NOT_IN_PROJECTS)}, {self.project!r} was given"
            )
        self.entity = self.entity or os.environ.get("WANDB_ENTITY") or None
        self._runs = WandbRuns(
            self.mode, self.project, self.entity, self.directory, self.base_url, self.system
        )
        self._open_runs: dict[str, OpenRun] = {}
        self._places: dict[str, None] = {}
        self._unconfirmed: dict[str, str] = {}
        self._sweep_run = sweep_run()

    def has(self, run_id: str, content: Mapping[str, Any]) -> bool:
        """Whether a copy of the run with these results would add nothing: W&B has it, or is disabled."""
        if self.mode == "disabled":
            return True
        if self.mode == "offline" and not self._runs.offline_copies(run_id):
            return False
        copied = self._copied()
        has = self._sweep_run is None and copied.has(run_id, copied.digest(content))
        # The folder of an offline copy may have another name now.
        if has and (place := self._offline_place() if self.mode == "offline" else copied.said()) is not None:
            self._places[place] = None
        return has

    def start(self, run_id: str, config: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Opens a run of W&B, or continues it.

        Args:
            config: its resolved configuration.
            about: its manifest, with its `settings` that differ from the defaults, and `searched`.
        """
        if run_id in self._open_runs or self.mode == "disabled":
            return
        names = {key: _name(config.get(key)) for key in ("target", "sampler", "scale", "task")}
        called = run_name(config, about.get("settings"), about.get("searched") or ())
        git = about.get("git") or {}
        own: dict[str, Any] = {"row": called.row, "column": called.column, "scale": names["scale"]}
        own |= {"paper": ", ".join(called.papers) or None, "commit": git.get("commit")}
        own |= {"dirty": git.get("dirty"), "settings": called.settings}
        experiment = config.get("experiment")
        together = f"{experiment}, {names['scale']}" if experiment else None
        groups = [names["target"], names["sampler"], names["scale"]]
        tags = [*groups, *called.papers, *_run_tags(config), *self.tags]
        # A run that an agent asked for has the id that the sweep knows it by; a batch has but one such run.
        known, self._sweep_run = self._sweep_run or run_id, None
        arguments: dict[str, Any] = {
            "run_name": called.text,
            "config": {**config, **own},
            "run_group": self.group or _given(config, "group") or together,
            "run_job_type": names["task"] or "run",
            "tags": tuple(dict.fromkeys(filter(None, tags))),
            "commit": git.get("commit"),
        }
        run = self._open(known, about.get("finished") is None, **arguments)
        # Offline the run that is opened replaces the one before.
        anew = partial(self._open, known, False, **arguments) if self.mode == "offline" else None
        self._open_runs[run_id] = OpenRun.of(run, config, anew)

    def state(self, run_id: str, title: str) -> None:
        """Says in the run's summary what it is doing now: a training, a tuning."""
        if (opened := self._open_runs.get(run_id)) is not None:
            opened.run.summary["status"] = title

    def log(
        self, run_id: str, step: int, values: Mapping[str, float], pictures: Making | None = None
    ) -> None:
        """Writes metrics and pictures that a run had after `step` steps, unless W&B has them already."""
        if (opened := self._open_runs.get(run_id)) is not None:
            opened.log(step, values, pictures)

    def training(
        self, run_id: str, iteration: int, values: Mapping[str, float], pictures: Making | None = None
    ) -> None:
        """Writes how far the training is of the model that a run waits for, and what its chains are."""
        if (opened := self._open_runs.get(run_id)) is not None:
            opened.training(iteration, values, pictures)

    def finish(self, run_id: str, summary: Mapping[str, Any], failed: bool = False) -> None:
        """Writes a run's summary and closes it in W&B; a run that failed before its start is not there.

        Raises:
            TimeoutError: if the server does not take what is left within a minute.
        """
        opened = self._open_runs.pop(run_id, None)
        if opened is None:
            return
        opened.finish(summary, failed)
        if not failed:
            self._unconfirmed[run_id] = self._copied().digest(summary)

    def table(self, experiment: str, scale: str, folder: Path) -> None:
        """Copies a rendered table: its rows and its figures, as one run of their own."""
        name = f"{experiment}, {scale}"
        self.tables(name, name, self.group or name, folder)

    def tables(self, name: str, title: str, group: str | None, folder: Path) -> str:
        """Copies the CSV files and figures of `folder` as the tables and images of one run; the run's id.

        Args:
            name: the same for the same tables; a copy of it replaces the one before.
        """
        run_id = "table-" + re.sub(r"[^A-Za-z0-9_]+", "-", name)
        files = sorted(path for path in folder.iterdir() if path.suffix in (".csv", ".png"))
        content = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
        if self.mode == "disabled" or self.has(run_id, content):
            return run_id
        import pandas

        about = {"run_name": title, "run_job_type": "table", "run_group": group}
        run = self._open(run_id, False, commit=None, **about)
        run.log(
            {
                path.stem: wandb.Image(str(path))
                if path.suffix == ".png"
                else wandb.Table(dataframe=pandas.read_csv(path))
                for path in files
            }
        )
        run.finish()
        self._unconfirmed[run_id] = self._copied().digest(content)
        return run_id

    def home(self, api: wandb.Api) -> tuple[str, str]:
        """The entity and the project that runs go to."""
        return self.entity or str(api.default_entity), str(self.project)

    def places(self) -> list[str]:
        """A sentence for each place that runs were copied to: where to look, or how to upload them.

        Raises:
            ConnectionError: if the server stopped to take the key while runs went out; they are copied again
                another time.
        """
        unconfirmed, self._unconfirmed = self._unconfirmed, {}
        if unconfirmed and self.mode == "online" and (reason := trouble()) is not None:
            raise ConnectionError(reason)
        copied = self._copied()
        for run_id, digest in unconfirmed.items():
            copied.note(run_id, digest, next(reversed(self._places)))
        return list(self._places)

    def _open(self, run_id: str, live: bool, **arguments: Any) -> Any:
        """Opens a run, and notes where it can be seen."""
        run = self._runs.open(run_id, live, first=not self._places, **arguments)
        self.mode = self._runs.mode
        if self.mode == "offline":
            self._copied().forget_offline(run_id)
        place = self._offline_place() if self.mode == "offline" else f"W&B: {run.project_url}"
        self._places[place] = None
        return run

    def _copied(self) -> CopiedRuns:
        """The runs that W&B has in this mode, server and project."""
        online = [wandb.setup().settings.base_url, self.entity or "", self.project or ""]
        place = "/".join(online if self.mode == "online" else ["offline", *online[1:]])
        about = [self.group, self.tags]
        return CopiedRuns(Path(self.directory) / "wandb" / "copied", place, about)

    def _offline_place(self) -> str:
        runs = f"{shlex.quote(str(Path(self.directory) / 'wandb'))}/offline-run-*"
        return f"{OFFLINE}; upload with: wandb sync {runs}"


def sweep_run() -> str | None:
    """The id that a sweep's agent has given to the run of this process; None where no agent started it."""
    return os.environ.get("WANDB_RUN_ID") if os.environ.get("WANDB_SWEEP_ID") else None


def _run_tags(config: Mapping[str, Any]) -> list[str]:
    """The tags that the command gave which computed the run with this configuration."""
    given = _given(config, "tags") or []
    return list(map(str, given if isinstance(given, list | tuple) else [given]))


def _given(config: Mapping[str, Any], key: str) -> Any:
    """What the command gave the logger at `key` which computed the run with this configuration."""
    node = config.get("logger")
    return node.get(key) if isinstance(node, Mapping) else None


def _name(group: Any) -> str:
    """The name of a configuration group, which is a mapping with a `name`, or the name itself."""
    return str(group.get("name", "")) if isinstance(group, Mapping) else str(group or "")
