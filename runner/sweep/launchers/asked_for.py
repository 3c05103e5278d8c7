"""What follows from the launcher that was asked for, before it is given any job."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.core.global_hydra import GlobalHydra
from hydra.types import RunMode

from runner.config.compose import CONFIG, one_sentence_errors, searched
from runner.config.values import fails_fast
from runner.execution.devices import device_type, lacks
from runner.execution.errors import UserError, warn
from runner.sweep.jobs import Job, Request
from runner.sweep.launchers.ray_tasks import RAY, cluster_address


def on_other_nodes(request: Request, jobs: Sequence[Job]) -> bool:
    """Whether `jobs` are for a GPU that only nodes of Slurm or of a cluster of Ray may have; says so then."""
    if not any(lacks(device_type(each.config.device)) for each in jobs):
        return False
    hydra = GlobalHydra.instance().hydra
    assert hydra is not None
    with one_sentence_errors():
        config = hydra.compose_config(CONFIG, request.hydra, RunMode.MULTIRUN, from_shell=False)
    launcher = config.hydra.launcher
    kind = str(launcher._target_).rpartition(".")[2]
    if kind != "SlurmLauncher" and not (kind == RAY and cluster_address(launcher.ray.init)):
        return False
    who = "Ray" if kind == RAY else "Slurm"
    warn(f"There is no CUDA device here: jobs with device=cuda look for one where {who} starts them.")
    return True


def check_launcher(request: Request) -> None:
    """Refuses what a launcher that does not compute the jobs here cannot do.

    Raises:
        UserError: for ``sweep.fail_fast``, since it is handed all jobs at once, and for a folder of
            configurations that its jobs would not find, since the path is an interpolation.
    """
    others = [line for line in request.hydra if line.startswith("hydra/launcher=") and "basic" not in line]
    if others and fails_fast(request.jobs[0].config):
        raise UserError(
            "sweep.fail_fast=true needs hydra/launcher=basic, since other launchers are handed all jobs at "
            f"once; {others[0]} was given."
        )
    if others and (named := [line for line in searched(request.hydra) if "${" in line]):
        raise UserError(
            f"{others[0]} needs folders of --config-dir without '${{' in their paths, since its jobs "
            f"would take it for a reference to a key; {named[0]} was given. A link to the folder helps."
        )
