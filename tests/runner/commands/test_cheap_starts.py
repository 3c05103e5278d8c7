"""What a command does without: torch for runs that are done, a second composition of the same choice."""

from __future__ import annotations

import errno
import gc
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from omegaconf import DictConfig, OmegaConf

import conf
from runner.command import subcommands
from runner.config.compose import composed
from runner.config.construct_sampler import construct_sampler
from runner.config.key_group import node
from runner.config.sources import choice_cache
from runner.config.sources.choice_cache import kept
from runner.execution import devices
from runner.execution.errors import UserError
from runner.execution.manifest import git
from runner.execution.memory import garbage
from runner.models.identity import TUNED, leaves_open
from runner.sweep.search import other_sweepers
from samplers.tuning.tunable import Tunable
from tests.robustness.shims.refusals import refuse_writes
from tests.support.commands import Call

SMALL = ["target=bernoulli4", "task.steps=20", "task.chains=2", "metric=tv"]
ROOT = Path(conf.__path__[0]).parent


def printed(code: str) -> str:
    """What `code` prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_run_that_is_done_is_told_without_torch(call: Call) -> None:
    argv = ["sampler=gibbs", *SMALL]
    assert call(*argv).status == 0
    code = f"import sys; from runner.__main__ import main; main({argv}); print('torch' in sys.modules)"
    told = printed(code)
    assert "done before" in told
    assert told.splitlines()[-1] == "False"


def test_a_model_is_refused_where_nothing_evaluates_it_though_the_run_is_done(call: Call) -> None:
    argv = ["sampler=gibbs", *SMALL]
    assert call(*argv).status == 0
    argv.append("model=somewhere")
    said = "model=somewhere is for task=evaluate; target.model=PATH samples from a saved model."
    assert call(*argv).status == 2
    code = (
        "import sys; from runner.__main__ import main; sys.stderr = sys.stdout; "
        f"print(main({argv}), 'torch' in sys.modules)"
    )
    told = printed(code)
    assert said in told
    assert told.splitlines()[-1] == "2 False"


def test_a_table_is_checked_without_what_draws_it() -> None:
    code = (
        "import sys; from runner.report.experiment_shape import check_table; "
        "from runner.sweep.jobs import requested; "
        "made = requested(['+experiment=pt_table1', 'scale=smoke', 'sampler=acs'], multirun=True); "
        "check_table(made.plans[0].overrides, made.jobs, made.names); "
        "print(len(made.jobs), sorted({'matplotlib', 'numpy', 'pandas', 'scipy', 'torch'} & {*sys.modules}))"
    )
    told = printed(code)
    assert told == "8 []\n"


def test_a_sweep_that_is_done_tries_nothing(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    argv = ["-m", "sampler=gibbs,dmala", "seed=0,1", *SMALL]
    assert call(*argv).status == 0
    monkeypatch.setattr("runner.sweep.preflight.preflight", pytest.fail)
    assert "0 runs done, 4 skipped" in call(*argv).out
    assert call(*argv, "sampler=gibbs,ab").status != 0


@pytest.mark.parametrize(("word", "waits"), [("run", True), ("table", True), ("list", False)])
def test_the_collector_waits_in_a_command_of_rungwise(
    word: str, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []
    monkeypatch.setattr(subcommands, "collect_once_imported", lambda: called.append("waits"))
    monkeypatch.setattr(sys, "argv", ["rungwise", word, "--help"])
    with suppress(SystemExit):  # argparse shows the help of some
        subcommands.main()
    assert called == ["waits"] * waits
    called.clear()
    with suppress(SystemExit):
        subcommands.main([word, "--help"])
    assert called == [], "somebody else's process"


def test_the_collector_works_while_another_sweeper_does(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    hydra = SimpleNamespace(multirun=lambda *_, **__: seen.append(gc.isenabled()))
    monkeypatch.setattr(other_sweepers, "initialise", lambda: None)
    monkeypatch.setattr(other_sweepers.GlobalHydra, "instance", lambda: SimpleNamespace(hydra=hydra))
    gc.disable()
    try:
        assert other_sweepers.leave_to_hydra([]) == 0
    finally:
        gc.enable()
        gc.unfreeze()
    assert seen == [True]


@pytest.mark.parametrize("name", sorted(path.stem for path in ROOT.glob("conf/sampler/*.yaml")))
def test_what_is_left_to_a_pilot_is_known_from_the_source(name: str) -> None:
    given = node(composed([f"sampler={name}"]), "sampler")
    unnamed = {key: value for key, value in given.items() if key not in TUNED}
    for described in (given, unnamed):
        try:
            tunable = isinstance(construct_sampler(described, "sampler"), Tunable)
        except UserError:
            continue
        assert leaves_open(described) == tunable


def test_a_choice_is_composed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("a: 1")
    monkeypatch.setattr(conf, "__path__", [str(tmp_path)])
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(choice_cache, "_stamp", choice_cache._stamp.__wrapped__)
    asked: list[Sequence[str]] = []

    def compose(overrides: Sequence[str]) -> DictConfig:
        asked.append(overrides)
        return OmegaConf.create({"a": "${b}", "b": [1, None, 0.5, "???"]})

    def get(*overrides: str) -> list[Sequence[str]]:
        found = kept(overrides, compose)
        assert found == OmegaConf.to_container(compose(()))
        asked.pop()
        return asked

    assert get("x=1") == get("x=1") == [("x=1",)]
    assert len(get("x=2")) == 2
    for path in (tmp_path / "__pycache__").iterdir():
        path.write_text(path.read_text()[:-9])
    assert len(get("x=2")) == 3  # of a file that is cut short nothing is taken
    assert len(get("x=2")) == 3
    assert len(get("hydra.searchpath=[here]")) == len(get("hydra.searchpath=[here]")) - 1 == 4
    (tmp_path / "config.yaml").write_text("a: 2")
    assert len(get("x=2")) == 6
    assert len(list((tmp_path / "__pycache__").iterdir())) == 1  # those of the former contents are removed
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert len(get("x=3")) == len(get("x=3")) - 1 == 7


def test_a_damaged_choice_is_composed_anew_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(choice_cache, "FOLDER", str(tmp_path))
    overrides = ("sampler=gibbs", "seed=12345")
    right = kept(overrides, composed)
    (path,) = tmp_path.glob("*.json")
    whole = path.read_bytes()
    for damage in (b"{}", b"[]", b'{"content": {}}', b"\xff", whole.replace(b"12345", b"54321")):
        path.write_bytes(damage)
        assert kept(overrides, composed) == right
        assert path.read_bytes() == whole


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_disk_that_refuses_stops_no_command(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(choice_cache, "FOLDER", str(tmp_path))
    refuse_writes(tmp_path, number, after=0, patch=monkeypatch.setattr)
    assert kept(("sampler=gibbs",), composed)["sampler"]["name"] == "gibbs"
    assert not list(tmp_path.iterdir())


def test_a_kept_choice_is_what_hydra_composes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(choice_cache, "FOLDER", str(tmp_path))

    def not_again(overrides: Sequence[str]) -> DictConfig:
        raise AssertionError(overrides)

    for name in ("pt_table1", "edlp_table2", "reld_theorem1"):
        overrides = (f"+experiment={name}", "scale=smoke")
        first, again = kept(overrides, composed), kept(overrides, not_again)
        assert json.dumps(first) == json.dumps(again)


def test_no_driver_of_a_gpu_is_found_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr("ctypes.CDLL", loaded.append)
    monkeypatch.setattr(sys, "platform", "linux")
    assert not devices._has_no_driver()
    assert loaded == ["libcuda.so.1"]

    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr("ctypes.CDLL", missing)
    assert devices._has_no_driver() or Path("/dev/kfd").exists()
    monkeypatch.setattr(sys, "platform", "win32")
    assert not devices._has_no_driver()


def test_the_collector_starts_again_once_all_is_imported() -> None:
    before = gc.get_freeze_count()  # CPython 3.12 starts with some
    garbage.imported()
    assert gc.get_freeze_count() == before  # not stopped: a library hides nothing of its user's
    garbage.collect_once_imported()
    try:
        assert not gc.isenabled()
        garbage.imported()
        assert gc.isenabled()
        assert gc.get_freeze_count() > before
    finally:
        gc.unfreeze()
        gc.enable()


def test_the_commit_and_whether_files_differ() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    words = ["git", "--no-optional-locks", "-C", str(ROOT)]
    head, changes = (
        subprocess.run([*words, *rest], capture_output=True, text=True, check=True).stdout.strip()
        for rest in (["rev-parse", "HEAD"], ["status", "--porcelain"])
    )
    assert git.__wrapped__() == {"commit": head, "dirty": bool(changes)}
