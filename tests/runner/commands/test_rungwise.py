"""The command `rungwise`: its subcommands are the modules, and a mistyped one is a sentence."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest

from runner.command.subcommands import COMMANDS, main
from tests.support.commands import SMALL

ROOT = Path(__file__).parents[3]


def test_every_command_is_listed_and_says_its_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    listed = capsys.readouterr().out
    for name, (module, _) in COMMANDS.items():
        assert f"\n  {name} " in listed
        assert callable(importlib.import_module(module).main)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("run", "bench")])
def test_a_command_says_its_use(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main([name, "--help"])
    except SystemExit as ended:
        status = int(ended.code or 0)
    assert status == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(
        r"Exit status: 0, .*; 2, refused before any work, in one sentence; .*143, SIGTERM\.$", said
    )
    assert said.count("Exit status") + said.count("exit status") == 1


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("table", "0, done, whatever the state of the runs"),
        ("verify", "1, a result is damaged"),
        ("verdicts", "1, a record was left out"),
        ("audit", "1, a figure is not"),
        ("exactness", "3, a sampler crashed"),
    ],
)
def test_a_commands_use_says_what_its_own_statuses_mean(
    name: str, meaning: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(SystemExit):
        main([name, "--help"])
    assert meaning in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("name", "runs"), [("table", True), ("status", True), ("sync", True), ("verify", False)]
)
def test_a_commands_use_says_whether_it_takes_any_runs(
    name: str, runs: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert (" runs [key=value ...]" in capsys.readouterr().out) is runs


def test_show_says_that_a_model_can_be_evaluated_on_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "task=evaluate"]) == 0
    assert "a name of conf/dataset or a file.npz;" in " ".join(capsys.readouterr().out.split())


def test_show_explains_the_settings_of_a_samplers_builder(capsys: pytest.CaptureFixture[str]) -> None:
    """They are no arguments of the kernel: `samplers.tuning` has them."""
    assert main(["show", "sampler=acs"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("sampler.")]
    meanings = {key: said for key, _, *said in lines}
    assert all(meanings.values()), meanings
    assert " ".join(meanings["sampler.cycles"]).startswith("number of cycles")


def test_the_standard_metrics_are_no_single_one(capsys: pytest.CaptureFixture[str]) -> None:
    """The file includes `kl` first, whose docstring it had."""
    said = "The standard metrics of sampling that the target and the sampler support; others must be named."
    assert main(["list", "metrics"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("standard ")]
    assert line.split(maxsplit=1)[1].strip() == said
    assert main(["show", "metric=standard"]) == 0
    shown = capsys.readouterr().out
    assert said in shown
    assert "Class:" not in shown


def test_targets_that_only_some_sizes_of_can_be_drawn_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "targets"]) == 0
    lines = {line.split(" ", 1)[0]: line for line in capsys.readouterr().out.splitlines()}
    sizes = "exact draws at some sizes"
    assert all(sizes in lines[name] for name in ("ising", "potts", "spin_glass", "tsp"))
    assert "exact draws," in lines["bernoulli"]


OWN = {
    "experiment/own_table": """# @package _global_
# Mine.
experiment: own_table
sweep:
  rows: [{row: Gibbs, sampler: gibbs}]
  overrides: {target: bernoulli4}
""",
    "dataset/mine": "name: mine",
    "tabular/rows_of_mine": "name: rows_of_mine",
}


@pytest.mark.usefixtures("call")
def test_the_commands_listed_for_the_users_own_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An experiment of one's own is no target of make; only the project's data sets have names."""
    monkeypatch.setenv("COLUMNS", "300")
    folder = tmp_path / "my conf"
    for name, text in OWN.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / f"{name}.yaml").write_text(text)
    assert main(["list", "experiments", "--config-dir", str(folder)]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert any(line.split()[-1:] == ["pt-table1"] for line in listed)
    (own,) = [line for line in listed if line.startswith("own_table ")]
    command = shlex.split(own[own.index("rungwise ") :])
    assert main([*command[1:], "scale=smoke", "--dry-run", f"output_root={tmp_path}"]) == 0
    capsys.readouterr()
    for words in (["list", "datasets"], ["list"]):
        assert main([*words, "--config-dir", str(folder)]) == 0
        said = capsys.readouterr().out
        assert ("digits" in said, "mine" in said) == (True, False)


def test_temperings_are_listed_with_what_they_make_of_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "tempering"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    made = {name: last for name, *_, last in (line for line in lines if len(line) > 1)}
    assert (made["none"], made["parallel"], made["simulated"]) == ("dmala", "pt_dmala", "st_dmala")


ANNEALED = ("target=bernoulli4", "sampler=gibbs", "tempering=annealed", "task.steps=8", "task.chains=2")


@pytest.mark.usefixtures("call")
def test_annealed_states_are_no_draws(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *ANNEALED, "metric=kl"]) == 2
    said = capsys.readouterr().err
    assert "metric: kl needs draws from the target; the states of SimulatedAnnealing are no such" in said
    assert main(["run", *ANNEALED, "task.burn_in=0"]) == 0
    found = capsys.readouterr()
    assert "warning: left out: the metrics kl, kl_clipped, tv, mmd, " in found.err
    assert "acceptance=" in found.out
    assert "kl=" not in found.out


@pytest.mark.usefixtures("call")
def test_a_run_and_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *SMALL]) == 0
    assert main(["table", "runs", "sampler=gibbs"]) == 0
    assert "Written to outputs/tables/runs/" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["tabel"], "Unknown command 'tabel'; did you mean 'table'?"),
        (["target=mog"], "A command comes first: rungwise run target=mog ..."),
        (["list", "sampler"], "Unknown kind 'sampler'; did you mean 'samplers'?"),
        (["show", "acs"], "has the form GROUP=NAME, 'acs' was given; did you mean 'sampler=acs'?"),
        (["show", "sampler=DMALA"], "Unknown sampler 'DMALA'; did you mean 'dmala'?"),
        (["show", "smapler=acs"], "Unknown group 'smapler'; did you mean 'sampler'?"),
        (["show", "=x"], "Unknown group ''. Allowed: "),
        (["show", "*=mog"], "Unknown group '*'. Allowed: "),
        (["show", "sampler=../target/mog"], "Unknown sampler '../target/mog'. Allowed: "),
        (["completion", "tcsh"], "Unknown shell 'tcsh'"),
    ],
)
def test_a_mistake_is_a_sentence(argv: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_a_reader_that_has_gone_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "runner.command", "show", "sampler=acs"]
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, "")


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"rungwise": "runner.command.subcommands:main"}
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"rungwise {project['version']}\n"


def test_help_names_the_command_as_it_was_called(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from runner.table import main as table

    for called, said in (("/bin/rungwise", "rungwise table"), ("runner/table.py", "python -m runner.table")):
        monkeypatch.setattr("sys.argv", [called, "table", "--help"])
        with pytest.raises(SystemExit):
            table(["--help"])
        assert capsys.readouterr().out.startswith(f"usage: {said} EXPERIMENT")


def test_the_installed_command_finds_packages_in_the_current_folder(tmp_path: Path) -> None:
    """As `python -m` does; of a script only the folder that it lies in is on Python's path."""
    (tmp_path / "mine.py").write_text("print('found')\n")
    script = tmp_path / "bin" / "rungwise"
    script.parent.mkdir()
    script.write_text("from runner.command.subcommands import main\nmain()\nimport mine\n")
    ended = subprocess.run(
        [sys.executable, str(script), "--version"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.stdout.splitlines()[1:] == ["found"], ended.stderr
