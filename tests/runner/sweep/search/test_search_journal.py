"""The journal of a search: one search at a time has it, and what it lost or got wrong is asked again."""

from __future__ import annotations

import errno
import json
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="the extra optuna is not installed")

from optuna.storages.journal import JournalFileBackend

from runner.files import locks
from runner.files.lock_holders import holder
from tests.support.commands import Call, Ended, one
from tests.support.searches import SEARCH, trials

TWO = [*SEARCH, "hydra.sweeper.n_trials=2"]
WARNED = "warning: the journal {0}/optuna/{1}.log {2} it was moved to {0}/optuna/{1}.bad-1.log"


def warned(ended: Ended, what: str) -> bool:
    """Whether a search said `what` of its journal, that it was moved, and nothing else."""
    name = one("optuna/*.bad-1.log").name.removesuffix(".bad-1.log")
    return ended.err.startswith(WARNED.format("outputs", name, what)) and ended.err.count("\n") == 1


def test_a_second_search_waits_for_the_first_and_says_for_whom(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = call(*TWO)
    path, taken = one("optuna/*.log").with_suffix(".lock"), threading.Event()

    def hold() -> None:
        with locks.held(path):
            taken.set()
            time.sleep(0.5)

    holding = threading.Thread(target=hold)
    holding.start()
    assert taken.wait(10)
    monkeypatch.setattr(locks, "PATIENCE_SECONDS", 0.01)
    who = holder(path)
    second = call(*TWO)
    holding.join()
    assert second.err == f"warning: waiting for {who}, which holds {path}.\n"
    assert (second.status, trials(second.out)) == (0, [])
    assert second.out.splitlines() == whole.out.splitlines()[2:]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:100],
        lambda content: content[:-5],
        lambda content: b"\0" * 100 + content[100:],
        lambda content: content + b"[]\n",
        lambda content: content + b"{}\n",
        lambda content: content + b'{"op_code":6,"worker_id":"a"}\n',
    ],
    ids=["start", "torn", "zeros", "list", "empty", "fields"],
)
def test_a_damaged_journal_is_set_aside_and_its_runs_are_found(damage: object, call: Call) -> None:
    whole = call(*TWO)
    path = one("optuna/*.log")
    before = {each: each.stat().st_mtime_ns for each in Path("outputs/runs").glob("*/summary.json")}
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    again = call(*TWO)
    assert warned(again, "cannot be used: it is truncated or damaged;")
    assert (again.status, again.out) == (0, whole.out)
    assert {each: each.stat().st_mtime_ns for each in before} == before


def test_an_infinite_value_of_an_earlier_version_is_asked_again(call: Call) -> None:
    whole = call(*TWO, "hydra.sweeper.n_trials=3")
    path = one("optuna/*.log")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    told = [line for line in lines if line["op_code"] == 6 and line["values"]]
    assert len(told) == 3
    for line in told[:2]:
        line["values"] = [float("inf")]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    again = call(*TWO, "hydra.sweeper.n_trials=3")
    assert warned(again, "has results of 2 trials that their runs do not have (any more);")
    assert again.status == 0
    assert trials(again.out) == trials(whole.out)[:2]
    assert again.out.splitlines()[2:] == whole.out.splitlines()[3:]
    repeated = call(*TWO, "hydra.sweeper.n_trials=3")
    assert (repeated.status, repeated.err, trials(repeated.out)) == (0, "", [])


def test_a_full_disk_under_the_journal_is_one_sentence(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: JournalFileBackend, logs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(JournalFileBackend, "append_logs", full)
        ended = call(*TWO)
    assert (ended.status, ended.err.count("\n")) == (1, 1)
    assert ended.err.startswith("error: No space is left on the disk")
    assert call(*TWO).status == 0
