"""Opens runs of W&B: their settings, and what becomes of one that the server refuses."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import wandb

from runner.execution.errors import UserError, one_sentence, warn

# To see whether a value is a data frame, the client would import pandas; now it goes by the name of its type.
wandb.util.pd_available = False

INIT_SECONDS, FINISH_SECONDS = 30.0, 60.0
"""How long the server may take to open a run, and to take the rest of one that has ended."""


@dataclass
class WandbRuns:
    """Opens the runs of one project.

    Attributes:
        mode: ``"online"`` or ``"offline"``; the latter once the server has refused a run.
        system: whether W&B measures the machine while a run is computed.
    """

    mode: Literal["online", "offline", "disabled"]
    project: str
    entity: str | None
    directory: str
    base_url: str | None
    system: bool

    def open(
        self,
        run_id: str,
        live: bool,
        *,
        commit: str | None,
        first: bool = True,
        config: dict[str, Any] | None = None,
        tags: Sequence[str] = (),
        **names: Any,
    ) -> Any:
        """Opens a run; `live` where it is computed now, on the machine that W&B may then measure.

        Args:
            commit: the commit of the code that computed the run.
            first: whether no other run is open: the logger may then go on offline if this one is refused.
            config: what the run's configuration holds in W&B.
            tags: what the run has besides the tags that a server has of it.
            names: further settings of W&B's run: its name, group, job type.

        Raises:
            UserError: if the run is to be written offline where nothing may be written.
        """
        earlier: list[Path] = []
        if self.mode == "offline":
            self._require_writable()
            earlier = self.offline_copies(run_id)
        else:
            Path(self.directory).mkdir(parents=True, exist_ok=True)
        own = {"run_id": run_id, "git_commit": commit, **names}
        try:
            run = self._init(config, live, own, tags)
            # Everything that was recorded is written again; one that W&B refuses leaves what is there.
            for folder in earlier:
                shutil.rmtree(folder)
            return run
        except Exception as error:
            if self.mode != "online" or not first:
                raise
            warn(f"W&B refused the run ({one_sentence(error)}); the logger goes on offline.")
            self.mode = "offline"
            self._require_writable()
            # The client holds the refused run's id as one in use until it is shut down.
            wandb.teardown()
            return self._init(config, live, own, tags)

    def _init(
        self, config: dict[str, Any] | None, live: bool, own: Mapping[str, Any], tags: Sequence[str]
    ) -> Any:
        """Opens a run with `tags`, and with those that a server has of it."""
        # Tags that are given at the start replace those of the server.
        first = () if self.mode == "online" else tags
        run = wandb.init(config=config, settings=self._settings(live, {**own, "run_tags": tuple(first)}))
        there = run.tags or ()
        if self.mode == "online" and (more := [tag for tag in tags if tag not in there]):
            run.tags = (*there, *more)
        return run

    def _require_writable(self) -> None:
        """Refuses a folder that may not be written: the client would write elsewhere, in silence."""
        folder = Path(self.directory) / "wandb"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            writable = os.access(folder, os.W_OK | os.X_OK)
        except OSError:
            writable = False
        if not writable:
            raise UserError(
                f"W&B's offline runs go to {folder}, which may not be written; name another folder with "
                "logger.directory=DIR, or make it writable."
            )

    def offline_copies(self, run_id: str) -> list[Path]:
        """The folders of a run that W&B has written offline."""
        # Of two in one second the later folder's name goes on after the id.
        found = Path(self.directory).glob(f"wandb/offline-run-*/run-{run_id}.wandb")
        return sorted(file.parent for file in found)

    def _settings(self, live: bool, own: Mapping[str, Any]) -> wandb.Settings:
        """All settings at once: the client checks every one again whenever one is changed."""
        settings: dict[str, Any] = {
            **own,
            "mode": self.mode,
            "project": self.project,
            "entity": self.entity,
            "root_dir": self.directory,
            "resume": "allow",
            "reinit": "create_new",
            "silent": True,
            "console": "wrap" if live else "off",
            # The commit is that of the code, wherever the command is given.
            "disable_git": True,
            "save_code": False,
            # The manifest has those that matter; to list them takes longer than all the rest.
            "x_save_requirements": False,
            "x_disable_stats": not (live and self.system),
            # Without it a server that is gone would hold the command for days.
            "finish_timeout_raises": True,
        }
        if not live:
            # The machine is another one, and the disk has all that the client would write for a second try.
            settings |= {"x_disable_meta": True, "symlink": False}
            settings["x_skip_transaction_log"] = self.mode == "online"
        asked = wandb.setup().settings
        settings["init_timeout"] = min(asked.init_timeout, INIT_SECONDS)
        settings["finish_timeout"] = asked.finish_timeout or FINISH_SECONDS
        settings |= {"base_url": self.base_url} if self.base_url else {}
        return wandb.Settings(**{name: value for name, value in settings.items() if value is not None})
