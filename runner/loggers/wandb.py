"""Weights & Biases: one of its runs per run here, as a copy of the results on disk.

The logger never stops a run: without a network, or without a key, it goes on offline with one sentence of
warning, and `python -m runner.wandb_sync` makes the copy later from what is on disk.
"""

from __future__ import annotations

import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import wandb

from runner.execution.errors import one_sentence, warn
from runner.store.array_files import sheet

MODES = ("online", "offline", "disabled")
REACH_SECONDS = 5.0


class WandbLogger:
    """Copies runs to W&B, several at once: a batch of seeds is as many runs.

    Args:
        mode: ``"online"``, ``"offline"`` (written under `directory` for a later ``wandb sync``) or
            ``"disabled"``.
        project: the W&B project.
        entity: the W&B user or team; None for the default of the key.
        group: groups the runs of an experiment; None for no group.
        tags: tags of every run, besides its target, sampler and scale.
        directory: where W&B keeps its own files, in the folder ``wandb``.

    Raises:
        ValueError: if the mode is unknown.
    """

    def __init__(
        self,
        mode: str = "online",
        project: str = "rungwise",
        entity: str | None = None,
        group: str | None = None,
        tags: Sequence[str] = (),
        directory: str = "outputs",
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, {mode!r} was given")
        self.mode: Any = usable_mode(mode)
        self.project, self.entity, self.group = project, entity, group
        self.tags = tuple(str(tag) for tag in tags)
        self.directory = Path(directory)
        self._runs: dict[str, Any] = {}

    def start(self, run_id: str, config: Mapping[str, Any]) -> None:
        """Opens a run of W&B, or continues it; `config` is the run's resolved configuration."""
        if run_id in self._runs:
            return
        names = {key: _name(config.get(key)) for key in ("target", "sampler", "scale")}
        self._runs[run_id] = self._open(
            run_id,
            name=f"{names['target']}/{names['sampler']}/seed {config.get('seed')}",
            config=dict(config),
            job_type="run",
            tags=[tag for tag in (*names.values(), *self.tags) if tag],
        )

    def log(self, run_id: str, step: int, values: Mapping[str, float]) -> None:
        """Writes the metrics `values` that a run had after `step` steps."""
        self._runs[run_id].log(dict(values), step=step)

    def images(self, run_id: str, images: Mapping[str, np.ndarray]) -> None:
        """Writes each group of binary images as one sheet, black on white."""
        pictures = {name: wandb.Image(255 * (1 - sheet(group))) for name, group in images.items()}
        self._runs[run_id].log(pictures)

    def finish(self, run_id: str, summary: Mapping[str, Any], failed: bool = False) -> None:
        """Writes a run's summary and closes it in W&B; a run that failed before its start is not there."""
        run = self._runs.pop(run_id, None)
        if run is None:
            return
        # As it is on disk: W&B takes no other keys than text.
        run.summary.update(json.loads(json.dumps(summary)))
        run.finish(exit_code=1 if failed else 0)

    def table(self, experiment: str, scale: str, folder: Path) -> None:
        """Copies a rendered table: its rows and its figures, as one run of their own."""
        run_id = f"table-{experiment}-{scale}"
        self.forget_offline(run_id)
        run = self._open(run_id, name=f"{experiment}, {scale}", job_type="table")
        content: dict[str, Any] = {path.stem: wandb.Image(str(path)) for path in sorted(folder.glob("*.png"))}
        if (folder / "table.csv").is_file():
            import pandas

            content["table"] = wandb.Table(dataframe=pandas.read_csv(folder / "table.csv"))
        run.log(content)
        run.finish()

    def forget_offline(self, run_id: str) -> None:
        """Removes a run's earlier offline copies from the disk, so that one written now is the only one."""
        for folder in self.directory.glob(f"wandb/offline-run-*-{run_id}"):
            shutil.rmtree(folder)

    def _open(self, run_id: str, **arguments: Any) -> Any:
        self.directory.mkdir(parents=True, exist_ok=True)
        common: dict[str, Any] = {
            "id": run_id,
            "resume": "allow",
            "reinit": "create_new",
            "project": self.project,
            "entity": self.entity,
            "group": self.group,
            "dir": str(self.directory),
            "settings": wandb.Settings(
                silent=True, console="off", disable_git=True, save_code=False, x_disable_stats=True
            ),
        }
        try:
            return wandb.init(mode=self.mode, **common, **arguments)
        except Exception as error:
            if self.mode != "online":
                raise
            warn(f"W&B refused the run ({one_sentence(error)}); the logger goes on offline.")
            self.mode = "offline"
            return wandb.init(mode="offline", **common, **arguments)


def usable_mode(mode: str) -> str:
    """`mode`, or ``"offline"`` with one sentence of warning where online is asked for and cannot be had."""
    if mode != "online":
        return mode
    url = wandb.setup().settings.base_url
    if not reachable(url):
        warn(f"W&B cannot be reached at {url}; the logger goes on offline.")
        return "offline"
    if not wandb.login(prompt=False, verify=False):
        warn("W&B has no key here (`wandb login` sets one); the logger goes on offline.")
        return "offline"
    return mode


def reachable(url: str) -> bool:
    """Whether a web server answers at `url` with any status, directly or through the proxy that is set."""
    try:
        urllib.request.urlopen(url, timeout=REACH_SECONDS).close()
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _name(group: Any) -> str:
    """The name of a configuration group, which is a mapping with a `name`, or the name itself."""
    return str(group.get("name", "")) if isinstance(group, Mapping) else str(group or "")
