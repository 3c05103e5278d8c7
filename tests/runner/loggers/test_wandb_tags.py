"""The tags and the group of a run in W&B: a later copy of the run adds to them and takes none away."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner import wandb_sync
from runner.__main__ import main as run
from tests.runner.loggers.test_wandb_offline import copies, read_back
from tests.support.wandb_server.server import WandbServer

ONE = ["target=bernoulli4", "sampler=gibbs", "scale=smoke", "task.steps=60", "task.chains=4", "task.record=4"]

GROUPS = {"bernoulli4", "gibbs", "smoke"}
"""The tags that each run has: its target, sampler and scale."""


def test_a_copy_keeps_the_tags_that_the_run_has_on_the_server(
    tmp_path: Path, server: WandbServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the command that computed it, those given in W&B, and those of an earlier copy."""
    root = f"output_root={tmp_path}"
    assert run([*ONE, "logger=wandb", "logger.system=false", "logger.tags=[first,try]", root]) == 0
    (sent,) = server.project.runs.values()
    assert set(sent.fields["tags"]) == {*GROUPS, "first", "try"}
    sent.fields["tags"] = [*sent.fields["tags"], "by hand"]
    for given, more in ([], set()), (["tags=later"], {"later"}), (["--again"], {"later"}):
        assert wandb_sync.main(["runs", *given, root]) == 0
        assert set(sent.fields["tags"]) == {*GROUPS, "first", "try", "by hand", *more}
        assert len(sent.fields["tags"]) == len(set(sent.fields["tags"]))
    monkeypatch.setenv("WANDB_TAGS", "of the shell")
    assert wandb_sync.main(["runs", root]) == 0
    assert {"first", "by hand", "of the shell"} < set(sent.fields["tags"])


def test_a_copy_keeps_the_group_of_the_command_that_computed_the_run(
    tmp_path: Path, server: WandbServer
) -> None:
    root = f"output_root={tmp_path}"
    few = ["-m", "+experiment=pt_table1", "scale=smoke", "target=mog", "target.components=8", "seed=0"]
    assert run([*few, "sampler=exact_draws", "logger=wandb", "logger.group=mine", root]) == 0
    sent = [server.project.runs[path.name] for path in (tmp_path / "runs").iterdir()]
    for given, group in ([], "mine"), (["group=other"], "other"):
        assert wandb_sync.main(["runs", *given, "--again", root]) == 0
        assert {each.fields["groupName"] for each in sent} == {group}


@pytest.mark.parametrize("tags", ["[first,try]", "first"])
def test_an_offline_copy_from_the_disk_has_the_tags_of_the_command_that_computed_the_run(
    tmp_path: Path, tags: str
) -> None:
    root = f"output_root={tmp_path}"
    assert run([*ONE, "logger=wandb", "logger.mode=offline", f"logger.tags={tags}", root]) == 0
    for given, more in ([], set()), (["tags=later"], {"later"}):
        assert wandb_sync.main(["runs", "mode=offline", *given, root]) == 0
        (copy,) = copies(tmp_path)
        assert set(read_back(copy)["run"].tags) == {*GROUPS, *tags.strip("[]").split(","), *more}
