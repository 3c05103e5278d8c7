"""One small sweep through every launcher: the runs and their numbers are those of the basic one."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from runner.execution.command_line import reporting
from runner.execution.signals import Interrupted
from runner.problem.problems import Problems
from runner.sweep.job_runner import compute
from runner.sweep.jobs import Job, Request, jobs_of, requested
from runner.sweep.launchers.slurm_jobs import jobs_of_submitit
from runner.sweep.outcome import Outcome
from tests.support.commands import Call, finished
from tests.support.submitit_jobs import LOCAL, at_work, beginning, logs, submitted

ROOT = Path(__file__).parents[3]

SWEEP = [
    *("-m", "target=bernoulli4", "sampler=gibbs,random_walk", "seed=range(0,2)", "metric=[tv,acceptance]"),
    *("scale=smoke", "task.steps=40", "task.chains=5", "task.record=2"),
]

# Runs each task of an array at once, as a cluster would, and says what sbatch says.
SBATCH = """#!{python}
import os, re, subprocess, sys
script = open(sys.argv[-1]).read()
open({seen!r}, "w").write(script)
for task in range(int(re.search(r"--array=0-(\\d+)", script)[1]) + 1):
    ids = dict(SLURM_JOB_ID=str(7 + task), SLURM_ARRAY_JOB_ID="7", SLURM_ARRAY_TASK_ID=str(task))
    place = dict(SLURM_NTASKS="1", SLURM_PROCID="0", SLURM_LOCALID="0", SLURM_NODEID="0")
    nodes = dict(SLURM_JOB_NUM_NODES="1", SLURM_JOB_NODELIST="localhost")
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.Popen(["bash", {seen!r}], env=dict(os.environ, **ids, **place, **nodes), **quiet)
print("Submitted batch job 7")
"""
SRUN = """#!/bin/sh
while [ "$1" != "{python}" ]; do shift; done
exec "$@"
"""
SACCT = """#!/bin/sh
echo 'JobID|State'
echo '7_0|RUNNING'
echo '7_1|RUNNING'
"""


def sweep(output: Path, *overrides: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the sweep from another folder, as a user of the installed project would."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), environment.get("PYTHONPATH", "")]))
    environment["PATH"] = os.pathsep.join(filter(None, [path, environment["PATH"]]))
    output.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "runner", *SWEEP, f"output_root={output / 'results'}", *overrides]
    return subprocess.run(command, cwd=output, env=environment, capture_output=True, text=True, timeout=200)


def numbers(output: Path) -> pd.DataFrame:
    """All rows of all runs, without what may differ between two computations of one run."""
    files = sorted((output / "results" / "runs").glob("*/metrics.csv"))
    return pd.concat(map(pd.read_csv, files), ignore_index=True).drop(columns="seconds")


@pytest.fixture(scope="module")
def basic(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    output = tmp_path_factory.mktemp("basic")
    finished(output / "results", *SWEEP)
    rows = numbers(output)
    assert rows["run_id"].nunique() == 4
    return rows


def same_as_basic(basic: pd.DataFrame, output: Path, *overrides: str, path: str = "") -> None:
    """The launcher gives the basic launcher's rows."""
    said = sweep(output, *overrides, path=path)
    assert said.returncode == 0, said.stderr
    assert "4 runs done" in said.stdout
    pd.testing.assert_frame_equal(numbers(output), basic, check_exact=True)


def test_joblib(basic: pd.DataFrame, tmp_path: Path, call: Call) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="the extra joblib is not installed")
    same_as_basic(basic, tmp_path, "hydra/launcher=joblib")
    again = call(*SWEEP, f"output_root={tmp_path / 'results'}", "hydra/launcher=joblib")
    assert again.status == 0
    assert again.out.endswith("\n0 runs done, 4 skipped (done before).\n")


def test_a_folder_whose_path_is_an_interpolation_is_refused_by_launchers(tmp_path: Path, call: Call) -> None:
    """What they compose reads it as one; a link has another name, and jobs computed here find the folder."""
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher", reason="the extra joblib is not installed")
    folder, link = tmp_path / "a${b}c", tmp_path / "plain"
    (folder / "sampler").mkdir(parents=True)
    (folder / "sampler" / "mine.yaml").write_text("name: mine\n_target_: samplers.discrete.gibbs.Gibbs\n")
    link.symlink_to(folder)
    command = ["-m", "target=bernoulli4", "sampler=mine", "task.steps=20", "scale=smoke"]
    several = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=1"]
    assert call(*command, "--config-dir", str(folder)).status == 0
    refused = call(*command, "--config-dir", str(folder), "seed=1", *several)
    assert "hydra/launcher=joblib needs folders of --config-dir without '${' in their paths" in refused.err
    assert (refused.status, len(refused.err.splitlines())) == (2, 1)
    assert "1 run done" in call(*command, "--config-dir", str(link), "seed=1", *several).out


def test_slurm_with_submitits_local_executor(basic: pd.DataFrame, tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher", reason="the extra slurm is not installed")
    same_as_basic(basic, tmp_path, LOCAL)


def test_a_job_near_its_time_limit_saves_and_is_queued_again(tmp_path: Path) -> None:
    """submitit says so by a signal, and its handler ends the job: that is no failure of its runs."""
    running = submitted(tmp_path, *SWEEP, "task.steps=30000", "sampler=gibbs", "seed=0", "metric=[tv]")
    os.kill(at_work(tmp_path, running), signal.SIGUSR2)
    said, errors = running.communicate(timeout=600)
    assert (running.returncode, "1 run done." in said) == (0, True), errors
    assert not list(tmp_path.glob("runs/*/failure.json"))
    manifest = json.loads(next(tmp_path.glob("runs/*/manifest.json")).read_text())
    assert manifest["command"].startswith("python -m runner -m target=bernoulli4 ")
    assert len(manifest["attempts"]) == 2
    assert "is preempted" in logs(tmp_path)


@pytest.mark.parametrize(
    ("number", "status", "count"),
    [(signal.SIGUSR2, 0, "1 run done."), (signal.SIGTERM, 75, "0 runs done, 1 interrupted.")],
)
def test_a_signal_to_a_job_that_still_imports_is_not_lost(
    tmp_path: Path, number: int, status: int, count: str
) -> None:
    """Preempted before submitit had its handlers, a job was killed by the signal, and its runs failed."""
    running = submitted(tmp_path, *SWEEP, "sampler=gibbs", "seed=0")
    os.kill(beginning(tmp_path, running), number)
    said, errors = running.communicate(timeout=600)
    assert (running.returncode, count in said) == (status, True), errors
    assert ("Requeued job" in logs(tmp_path)) == (number == signal.SIGUSR2)


def test_a_job_of_slurm_that_is_killed_fails_alone(tmp_path: Path) -> None:
    """The others are awaited; the lost job is named, and that another was stopped."""
    long = ["task.steps=20000", "sampler=gibbs,random_walk,dmala", "seed=0", "metric=[tv]"]
    running = submitted(tmp_path, *SWEEP, *long)
    os.kill(lost := at_work(tmp_path, running), signal.SIGKILL)
    os.kill(at_work(tmp_path, running, but=lost), signal.SIGTERM)
    said, errors = running.communicate(timeout=600)
    assert running.returncode == 1, errors
    assert "1 run done, 1 interrupted, 1 failed." in said
    assert re.search(r"The job was lost: Job \d+ .* has not produced any output \(state: \w+\)", errors)
    assert errors.endswith("Stopped by a signal to a worker; repeat the command to continue.\n")
    assert errors.count("repeat: python -m runner ") + said.count("repeat: python -m runner ") == 1
    assert len(list(tmp_path.glob("runs/*/summary.json"))) == 1
    assert len(list(tmp_path.glob("runs/*/failure.json"))) == 1


@pytest.mark.slow
def test_slurm_as_configured(basic: pd.DataFrame, tmp_path: Path) -> None:
    """`hydra/launcher=slurm` itself, on a stand-in for sbatch that runs the array's tasks on this machine."""
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher", reason="the extra slurm is not installed")
    tools, seen = tmp_path / "tools", tmp_path / "script"
    tools.mkdir()
    stand_ins = {
        "sbatch": SBATCH.format(python=sys.executable, seen=str(seen)),
        "srun": SRUN.format(python=sys.executable),
        "sacct": SACCT,
    }
    for name, text in stand_ins.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    overrides = ["hydra/launcher=slurm", "hydra.launcher.partition=short", "hydra.launcher.timeout_min=30"]
    same_as_basic(basic, tmp_path / "run", *overrides, path=str(tools))
    script = seen.read_text()
    for line in ("--partition=short", "--time=30", "--cpus-per-task=2", "--mem=8GB", "--array=0-1%2"):
        assert f"#SBATCH {line}" in script


def test_a_command_that_stops_says_that_its_jobs_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of Slurm; submitit's own executor has no squeue."""
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher", reason="the extra slurm is not installed")
    from submitit.core.core import Job as Submitted
    from submitit.local.local import LocalJob
    from submitit.slurm.slurm import SlurmJob

    def told(_: object) -> list[object]:
        raise Interrupted("SIGTERM")

    monkeypatch.setattr(Submitted, "results", told)

    @reporting
    def command(job: Submitted[object]) -> int:
        with jobs_of_submitit():
            return len(job.results())

    assert command(SlurmJob(tmp_path, "7_1")) == 75
    assert capsys.readouterr().err == (
        "Stopped by SIGTERM; the jobs go on in Slurm (squeue -j 7 shows them, scancel 7 ends them); repeat "
        "the command when they have ended, since it would submit them again.\n"
    )
    assert command(LocalJob(tmp_path, "7")) == 75
    assert capsys.readouterr().err == "Stopped by SIGTERM; repeat the command to continue.\n"


def test_a_node_without_a_gpu_submits_jobs_for_one(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ids are those of CUDA; the jobs look for it. Without Slurm the command is refused at once."""
    pytest.importorskip("hydra_plugins.hydra_submitit_launcher", reason="the extra slurm is not installed")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    handed: list[Job] = []

    def launch(_: Request, jobs: Sequence[Job], **__: object) -> list[Outcome]:
        handed.extend(jobs)
        return []

    monkeypatch.setattr("runner.sweep.launch.launch_jobs", launch)
    command = [*SWEEP, "device=cuda", f"output_root={tmp_path}"]
    said = call(*command, "hydra/launcher=slurm")
    assert "There is no CUDA device here: jobs with device=cuda look for one" in said.err
    on_cpu = jobs_of(requested([*SWEEP[1:], "device=cpu", f"output_root={tmp_path}"], multirun=True))
    assert {job.config.device for job in handed} == {"cuda"}
    assert len(handed) == len(on_cpu) > 1
    assert not {*handed[0].run_ids.values()} & {*on_cpu[0].run_ids.values()}
    handed.clear()
    refused = call(*command, "hydra/launcher=joblib")
    assert "PyTorch sees no CUDA device here; use device=cpu or auto" in refused.err
    assert (refused.status, handed) == (2, [])


def test_a_job_for_a_gpu_that_its_node_lacks_fails_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    lines = ["target=bernoulli4", "sampler=gibbs", "task.steps=20", "device=cuda", f"output_root={tmp_path}"]
    (job,) = jobs_of(requested(lines, multirun=False))
    (failure,) = compute(job, [], Problems()).failures
    assert "PyTorch sees no CUDA device here" in failure.message


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra ray is not installed")
def test_a_local_ray(basic: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    same_as_basic(basic, tmp_path, "hydra/launcher=ray")
