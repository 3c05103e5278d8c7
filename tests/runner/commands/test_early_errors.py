"""Ctrl-C while a command is being imported: one sentence, status 130, no table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runner.execution.command_line import reported

ROOT = Path(__file__).parents[3]
SENTENCE = "Stopped by SIGINT; repeat the command to continue.\n"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which Ctrl-C comes while Hydra is imported: to the process, or to its group."""
    stub = tmp_path / "hydra" / "__init__.py"
    stub.parent.mkdir()
    stub.write_text(
        "import os, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits it ignored\n"
        "number = 0 if os.environ.get('GROUP') else os.getpid()  # 0 is the group\n"
        "os.kill(number, signal.SIGINT)\n"
    )
    return os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT}"}


@pytest.mark.parametrize(
    "command",
    [
        "runner",
        "runner.table pt_table1",
        "runner.status pt_table1",
        "runner.wandb_sync x",
        "runner.command run",
    ],
)
def test_an_early_interrupt_is_one_sentence(environment: dict[str, str], command: str) -> None:
    argv = [sys.executable, "-m", *command.split()]
    ended = subprocess.run(argv, env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", SENTENCE)


def test_the_installed_command_says_the_same(environment: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "rungwise"  # what pip writes for an entry point
    script.write_text("import sys\nfrom runner.command.subcommands import main\nsys.exit(main())\n")
    argv = ["bash", "-c", f"{sys.executable} {script} run; echo $?"]
    ended = subprocess.run(argv, env=environment, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("130\n", SENTENCE)


def test_make_draws_no_table_after_an_early_interrupt(environment: dict[str, str]) -> None:
    argv = ["make", "-C", str(ROOT), "pt-table1", "INSTALL=no", f"VENV={sys.prefix}"]
    ended = subprocess.run(
        argv, env=environment | {"GROUP": "yes"}, capture_output=True, text=True, start_new_session=True
    )
    assert ended.returncode != 0
    assert ended.stderr.count(SENTENCE) == 1, ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_interrupt_before_the_signals_are_listened_to_has_the_same_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def pressed() -> int:
        raise KeyboardInterrupt

    assert reported(pressed) == 130
    assert capsys.readouterr().err == SENTENCE


def test_other_errors_are_shown_as_ever() -> None:
    """A process that imports `runner` as a library keeps its own hook."""
    code = "import sys; before = sys.excepthook; import runner; assert sys.excepthook is before; 1 / 0"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ended.stderr.endswith("ZeroDivisionError: division by zero\n")
