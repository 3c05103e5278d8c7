"""Outputs that are closed, full, gone or lack a character: the work is done and saved all the same."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runner.execution.progress import Progress

ROOT = Path(__file__).parents[3]
SWEEP = "-m target=bernoulli4 sampler=gibbs,dmala metric=tv task.steps=20 task.chains=2"

SAYS = """
import sys
from runner.execution.command_line import reported

def command():
    if "wait" in sys.argv:
        open("waiting", "w").close()
        sys.stdin.read(1)
    for _ in range(3):
        print("p \\N{GREEK SMALL LETTER MU} \\N{PLUS-MINUS SIGN}", flush=True)
        print("progress \\N{GREEK SMALL LETTER MU}", file=sys.stderr)
    open("done", "w").write("done")
    return int(sys.argv[1])

sys.exit(reported(command))
"""


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """What `line` leaves, in which $RUN is the sweep and $SAYS a command that prints and ends with $1."""
    words = {
        "PYTHONPATH": str(ROOT),
        "RUN": f"{sys.executable} -m runner {SWEEP}",
        "PYTHON": sys.executable,
        "SAYS": SAYS,
    }
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env={**os.environ, **words, **environment}, capture_output=True
    )


@pytest.mark.parametrize(
    ("line", "status", "err"),
    [
        ('($PYTHON -c "$SAYS" 0; echo $? >&3) 3>status | true', "141", "progress"),
        ('($PYTHON -c "$SAYS" 75; echo $? >&3) 3>status | true', "75", "progress"),
        ('($PYTHON -c "$SAYS" 0 2>&1; echo $? >&3) 3>status | true', "141", ""),
        (
            '$PYTHON -c "$SAYS" 0 > /dev/full; echo $? > status',
            "1",
            "error: No space is left on the disk to write standard output; all else is done, repeat the "
            "command to see it.",
        ),
        ('$PYTHON -c "$SAYS" 0 > /dev/full 2>&1; echo $? > status', "1", ""),
        ('$PYTHON -c "$SAYS" 0 2> /dev/full; echo $? > status', "0", ""),
        ('$PYTHON -u -c "$SAYS" 0 > /dev/full 2>&1; echo $? > status', "1", ""),
        ('$PYTHON -c "$SAYS" 0 >&- 2>&-; echo $? > status', "0", ""),
        ('$PYTHON -c "$SAYS" 0 2>&-; echo $? > status', "0", ""),
    ],
)
def test_a_command_goes_on_without_its_output(tmp_path: Path, line: str, status: str, err: str) -> None:
    ended = shell(line, tmp_path)
    assert (tmp_path / "status").read_text().strip() == status
    assert (tmp_path / "done").read_text() == "done"
    said = ended.stderr.decode().splitlines()
    assert (said[-1] if said else "").startswith(err)
    assert "Traceback" not in ended.stderr.decode()
    assert "ignored" not in ended.stderr.decode()
    assert b"progress" not in ended.stdout


def test_a_terminal_that_is_closed_is_no_error(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", SAYS, "0", "wait"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        while not (tmp_path / "waiting").exists() and process.poll() is None:
            time.sleep(0.01)
        os.close(ours)
        process.communicate(b"x")
    assert process.returncode == 0
    assert (tmp_path / "done").exists()


def test_characters_that_an_output_lacks_are_replaced(tmp_path: Path) -> None:
    ended = shell('$PYTHON -c "$SAYS" 0', tmp_path, PYTHONIOENCODING="latin-1")
    assert ended.returncode == 0
    assert ended.stdout == "p ? \N{PLUS-MINUS SIGN}\n".encode("latin-1") * 3


def test_a_sweep_whose_reader_is_gone_is_done(tmp_path: Path) -> None:
    shell("($RUN; echo $? >&3) 3>status | true", tmp_path, PYTHONIOENCODING="ascii")
    assert (tmp_path / "status").read_text() == "141\n"
    assert len(list(tmp_path.glob("outputs/runs/*/summary.json"))) == 2
    again = shell("$RUN", tmp_path, PYTHONIOENCODING="ascii")
    assert (again.returncode, again.stderr) == (0, b"")
    assert again.stdout.endswith(b"2 skipped (done before).\n")


def test_help_whose_reader_is_gone_ends_quietly(tmp_path: Path) -> None:
    command = "from runner.command.subcommands import main; raise SystemExit(main(['--help']))"
    ended = shell(f'($PYTHON -c "{command}"; echo $? >&3) 3>status | true', tmp_path)
    assert ended.stderr == b""
    assert (tmp_path / "status").read_text() == "141\n"


def test_a_process_without_standard_error_has_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with Progress() as shown:
        assert shown._bars is None
