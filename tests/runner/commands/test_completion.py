"""The Tab key: what the command offers, and what a shell makes of it."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from runner.__main__ import _parser
from runner.command.completion import completions
from runner.command.subcommands import COMMANDS, main

ROOT = Path(__file__).parents[3]

OFFERED = [
    ("rungwise ta", ["table"]),
    ("rungwise run sampler=pt_g", ["sampler=pt_gibbs", "sampler=pt_gwg"]),
    ("rungwise run samp", ["sampler=", "sampler."]),
    ("rungwise run sampler=acs sampler.cyc", ["sampler.cycles=", "sampler.cycle_length="]),
    ("rungwise run sampler=gibbs sampler.st", []),
    ("rungwise run sampler=dmala sampler.step_size=", ["sampler.step_size=auto"]),
    ("rungwise run -m sampler=dmala,ac", ["sampler=dmala,acs"]),
    (
        "rungwise run metric=[kl,to",
        ["metric=[kl,tour_cost", "metric=[kl,tour_mismatch", "metric=[kl,tour_pair_mismatch"],
    ),
    ("rungwise run target.training.le", []),
    ("rungwise run target=rbm target.training.cd", ["target.training.cd_steps="]),
    ("rungwise run target=rbm target.dataset=mnist_s", ["target.dataset=mnist_static"]),
    ("rungwise run +exp", ["+experiment="]),
    ("rungwise run -m +experiment=stmh_f", ["+experiment=stmh_figure1"]),
    ("rungwise run checkpoint.se", ["checkpoint.seconds="]),
    ("rungwise run dtype=", ["dtype=float32", "dtype=float64"]),
    ("rungwise run data.verify=", ["data.verify=true", "data.verify=false"]),
    ("rungwise run --dry", ["--dry-run"]),
    ("rungwise run --cfg ", ["job", "hydra", "all"]),
    ("rungwise table reld_t", ["reld_theorem1"]),
    ("rungwise table ru", ["runs"]),
    ("rungwise table runs target=mo", ["target=mog", "target=mos"]),
    ("rungwise list sam", ["samplers"]),
    ("rungwise show sampler=ac", ["sampler=acs"]),
    ("rungwise completion f", ["fish"]),
    ("rungwise run 'sampler=pt_dm", ["sampler=pt_dmala"]),
]


@pytest.mark.parametrize(("line", "offered"), OFFERED, ids=[line for line, _ in OFFERED])
def test_what_is_offered(line: str, offered: list[str]) -> None:
    assert sorted(completions(line)) == sorted(offered)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "run"])
def test_the_flags_are_those_of_the_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with suppress(SystemExit):
        main([name, "--help"])
    said = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", capsys.readouterr().out))
    assert set(completions(f"rungwise {name} --")) == said | {"--help"}


def test_the_flags_of_run_are_among_those_of_its_parser() -> None:
    known = {word for action in _parser()._actions for word in action.option_strings}
    assert set(completions("rungwise run --")) < known


def test_paths_and_names_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "sampler").mkdir(parents=True)
    (tmp_path / "mine" / "sampler" / "my_walk.yaml").write_text("name: my_walk\nwidth: 3\n")
    assert completions("rungwise run output_root=mi") == ["output_root=mine/"]
    assert completions("rungwise run --config-dir m") == ["mine/"]
    own = "rungwise run --config-dir mine sampler"
    assert completions(f"{own}=my") == ["sampler=my_walk"]
    assert completions(f"{own}=my_walk sampler.w") == ["sampler.width="]
    assert completions("rungwise run --config-dir nowhere sampler=my") == []


def test_completion_imports_neither_torch_nor_hydra() -> None:
    line = "rungwise run sampler=pt_dmala sampler.sw"
    code = "import sys; from runner.command.subcommands import main; main(sys.argv[1:]); print(*sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", code, "__complete", line],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    *words, modules = said.splitlines()
    assert words[:2] == ["sampler.swap.rule=", "sampler.swap.pairing="]
    assert not {"torch", "hydra", "omegaconf", "numpy", "pandas"} & set(modules.split())


class Shell:
    """A shell at a terminal, in which a line is typed key by key.

    Args:
        argv: the shell.
        folder: where the command `rungwise` is made for it.
    """

    def __init__(self, argv: list[str], folder: Path) -> None:
        (folder / "rungwise").write_text(f'#!/bin/sh\nexec {sys.executable} -m runner.command "$@"\n')
        (folder / "rungwise").chmod(0o755)
        own = {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "PS1": "> "}
        environment = os.environ | own | {"TERM": "dumb", "HOME": str(folder), "INPUTRC": "/dev/null"}
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(argv[0], argv, environment)

    def typed(self, keys: str, until: str) -> str:
        """What the terminal shows after `keys`, up to the text `until`."""
        os.write(self.terminal, keys.encode())
        shown, end = "", time.monotonic() + 20
        while until not in shown and time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.1)[0]:
                shown += os.read(self.terminal, 4096).decode(errors="replace")
        assert until in shown, shown
        return shown

    def close(self) -> None:
        os.close(self.terminal)
        os.waitpid(self.process, 0)


def test_bash_completes_names_keys_and_values(tmp_path: Path) -> None:
    shell = Shell(["bash", "--norc", "--noprofile", "-i"], tmp_path)
    try:
        shell.typed('eval "$(rungwise completion bash)"; echo rea""dy\n', "ready")
        shown = shell.typed("rungwise run sampler=pt_\t\t", "pt_tour_swap")
        assert "pt_dmala" in shown
        shell.typed("dm\t", "ala ")
        shell.typed("sampler.step_s\t", "ize=")
        shell.typed("\t", "auto")
        shell.typed("\x01echo \x05 en\n", "\nrungwise run sampler=pt_dmala sampler.step_size=auto en")
    finally:
        shell.close()


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes_names_keys_and_values(tmp_path: Path) -> None:
    shell = Shell(["zsh", "-f", "-i"], tmp_path)
    try:
        shell.typed("autoload -U compinit; compinit -u -D; echo rea''dy\n", "ready")
        shell.typed('eval "$(rungwise completion zsh)"; echo do""ne\n', "done")
        shell.typed("rungwise run sampler=pt_dm\t", "ala")
        shell.typed("sampler.step_s\t", "ize=")
        shell.typed("\t", "auto")
        shell.typed("\x01echo \x05 en\n", "\nrungwise run sampler=pt_dmala sampler.step_size=auto en")
    finally:
        shell.close()


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes_names_keys_and_values(tmp_path: Path) -> None:
    (tmp_path / "rungwise").write_text(f'#!/bin/sh\nexec {sys.executable} -m runner.command "$@"\n')
    (tmp_path / "rungwise").chmod(0o755)
    own = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    for line, words in (
        ("rungwise run sampler=pt_dm", ["sampler=pt_dmala"]),
        ("rungwise run sampler.step_s", ["sampler.step_size="]),
        ("rungwise run sampler.step_size=", ["sampler.step_size=auto"]),
    ):
        command = f"rungwise completion fish | source; complete -C '{line}'"
        said = subprocess.run(["fish", "-c", command], env=os.environ | own, capture_output=True, text=True)
        assert said.stdout.split() == words, said
