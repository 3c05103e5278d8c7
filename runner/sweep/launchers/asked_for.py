"""What follows from the launcher that was asked for, before it is given any job."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode

from runner.config.compose import CONFIG, one_sentence_errors, searched
from runner.execution.devices import device_type, lacks
from runner.execution.errors import UserError, warn
from runner.sweep.jobs import Job, Request


def on_other_nodes(request: Request, jobs: Sequence[Job]) -> bool:
    """Whether `jobs` are for a GPU that is not here and that nodes of Slurm may have, which it then says."""
    if not any(lacks(device_type(each.config.device)) for each in jobs):
        return False
    hydra = GlobalHydra.instance().hydra
    assert hydra is not None
    with one_sentence_errors():
        config = hydra.compose_config(CONFIG, request.hydra, RunMode.MULTIRUN, from_shell=False)
    if not str(config.hydra.launcher._target_).endswith(".SlurmLauncher"):
        return False
    warn("There is no CUDA device here: the jobs look for that of device=cuda where Slurm starts them.")
    return True


def check_folders(request: Request) -> None:
    """Refuses a folder of configurations that a launcher's jobs would not find: its path is an interpolation.

    Raises:
        UserError: naming the launcher; where the jobs are computed here, any folder is found.
    """
    others = [line for line in request.hydra if line.startswith("hydra/launcher=") and "basic" not in line]
    if others and (named := [line for line in searched(request.hydra) if "${" in line]):
        raise UserError(
            f"{others[0]} needs folders of --config-dir without '${{' in their paths, since its jobs "
            f"would take it for a reference to a key; {named[0]} was given. A link to the folder helps."
        )
