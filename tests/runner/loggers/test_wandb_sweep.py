"""Configurations of W&B sweeps, and W&B's own agent running one of our jobs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from runner import wandb_sweep
from tests.support.wandb_server.server import WandbServer

FIXED = ["target=bernoulli4", "sampler=dmala", "scale=smoke", "task.steps=30", "task.chains=4"]


def test_overrides_become_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        *FIXED,
        "sampler.step_size=tag(log,interval(0.1,2))",
        "seed=0,1",
        "metric=[kl,tv]",
        "objective=tv",
    ]
    assert wandb_sweep.main(words) == 0
    written = yaml.safe_load(capsys.readouterr().out)
    assert written["method"] == "bayes"
    assert written["metric"] == {"name": "tv", "goal": "minimize"}
    assert written["parameters"]["sampler.step_size"] == {
        "distribution": "log_uniform_values",
        "min": 0.1,
        "max": 2.0,
    }
    assert written["parameters"]["seed"] == {"values": [0, 1]}
    assert set(written["parameters"]) == {"sampler.step_size", "seed"}
    assert written["command"][-1] == "${args_no_hyphens}"
    assert {"target=bernoulli4", "metric=[kl,tv]", "logger=wandb"} <= set(written["command"])
    assert written["command"].count("objective=tv") == 1
    assert wandb_sweep.main(["target=mog", "sampler=glob(d*la)"]) == 0
    written = yaml.safe_load(capsys.readouterr().out)
    assert written["method"] == "grid"
    assert written["parameters"]["sampler"] == {"values": ["dmala", "dula"]}
    # A trial that does not measure it is refused by its name.
    assert f"objective={written['metric']['name']}" in written["command"]


def test_whole_numbers_stay_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert wandb_sweep.main(["task.steps=1e2,1e3", "task.chains=tag(int,interval(1,5))"]) == 0
    parameters = yaml.safe_load(capsys.readouterr().out)["parameters"]
    assert parameters["task.chains"] == {"distribution": "int_uniform", "min": 1, "max": 5}
    assert [repr(value) for value in parameters["task.steps"]["values"]] == ["100", "1000"]


def test_values_arrive_as_they_were_given(capsys: pytest.CaptureFixture[str]) -> None:
    """W&B's agent writes null as None, which Hydra takes for a text."""
    assert wandb_sweep.main(["checkpoint.steps=null,10", "compile=true,auto"]) == 0
    parameters = yaml.safe_load(capsys.readouterr().out)["parameters"]
    assert parameters["checkpoint.steps"] == {"values": ["null", 10]}
    assert parameters["compile"] == {"values": [True, "auto"]}


def test_an_interval_of_a_key_of_whole_numbers_is_one_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["task.chains=interval(1,5)", "sampler.step_size=interval(1,5)"]
    assert wandb_sweep.main([*words, "target=bernoulli4", "sampler=dmala"]) == 0
    parameters = yaml.safe_load(capsys.readouterr().out)["parameters"]
    assert parameters["task.chains"] == {"distribution": "int_uniform", "min": 1, "max": 5}
    assert parameters["sampler.step_size"] == {"distribution": "uniform", "min": 1.0, "max": 5.0}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["target=mog"], "A sweep needs a key with several values"),
        (["sampler=gibs,acs"], "did you mean 'gibbs'?"),
        (["sampler.step_size=interval(1,2)", "--method", "grid"], "A grid needs values"),
        (["sampler=acs,dmala", "--method", "best"], "--method must be one of bayes, grid, random"),
        (["sampler=acs,dmala", "objective=tw"], "objective"),
        (["sampler.step_size=interval(3,1)"], "must go from a smaller to a larger number."),
        (["sampler=glob(zz*)"], "'sampler=glob(zz*)' is a sweep over nothing."),
        (["task.chains=tag(int,log,interval(1,5))"], "W&B searches whole numbers evenly, "),
        (["task.chains=tag(log,interval(1,5))"], "W&B searches whole numbers evenly, "),
        (["task.chains=interval(0.2,0.8)"], "must hold two whole numbers or more."),
        (["target=bernoulli4", "metric=glob(t*)"], "metric must be the same in all trials of a search, "),
        (
            ["metric=tv,jump", "objective=tv"],
            "'metric=tv,jump' was given; several metrics at once are ",
        ),
        (["sampler=acs,dmala", "objective=tv,kl"], "objective must be the same in all trials of a search, "),
        (
            ["sampler=acs,dmala", "metric=[glob(t*)]"],
            "metric takes names, no pattern in a list, 'met",
        ),
        (["seed=range(0,1000000000)"], "must be a range of at most 100,000 values."),
        (["seed=range(0,3),7"], "is the only value of its key, 'seed=range(0,3),7' was given; write its "),
        (["output_root=a,b"], "output_root must be one folder for all jobs, 'output_root=a,b' was given."),
        (
            ["target=bernoulli4", "sampler=dmala,gibbs", "seed=[0,1]"],
            "A trial of a W&B sweep has one seed, seed=[0, 1] was given; seed=0,1 is swept.",
        ),
    ],
)
def test_a_sweep_that_cannot_be_is_refused(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wandb_sweep.main(words) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1


@pytest.mark.slow
def test_an_agent_of_wandb_runs_our_command(
    tmp_path: Path, server: WandbServer, capsys: pytest.CaptureFixture[str]
) -> None:
    root = f"output_root={tmp_path}"
    assert wandb_sweep.main([*FIXED, "sampler.step_size=interval(0.1,2)", root]) == 0
    file = tmp_path / "sweep.yaml"
    file.write_text(capsys.readouterr().out)
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "WANDB_SILENT": "false"}
    # The command says `python`: the one of this environment.
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    wandb = [sys.executable, "-m", "wandb"]

    def called(*words: str) -> str:
        said = subprocess.run([*wandb, *words], capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert said.returncode == 0, said.stdout + said.stderr
        return said.stdout + said.stderr

    called("sweep", "--project", "p", "--entity", "tester", str(file))
    ((sweep, stored),) = server.project.sweeps.items()
    assert list(yaml.safe_load(stored["config"])["parameters"]) == ["sampler.step_size"]
    args = {"sampler.step_size": {"value": 0.5}}
    server.project.commands.append({"type": "run", "run_id": "fromsweep", "program": None, "args": args})
    called("agent", "--count", "1", f"tester/p/{sweep}")
    sent = server.run("fromsweep")
    assert sent.exit_code == 0
    assert sent.fields["sweep"] == sweep
    assert sent.config["sampler"]["step_size"] == 0.5
    assert sent.history[-1]["step"] == 30
    assert len(list(tmp_path.glob("runs/*/summary.json"))) == 1
