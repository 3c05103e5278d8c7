"""A file of the user's that has the name of one of ours is never read: it is refused, and both are named."""

from __future__ import annotations

from pathlib import Path

import pytest

import conf
from runner import wandb_sweep
from tests.support.commands import Call, refused

OURS = Path(conf.__path__[0])
PLAIN = "target=bernoulli4 sampler=gibbs metric=tv scale=smoke"


@pytest.mark.parametrize("name", ["sampler/gibbs", "experiment/pt_table1", "config", "target/ising"])
def test_a_file_with_the_name_of_one_of_ours_is_refused(call: Call, tmp_path: Path, name: str) -> None:
    own = tmp_path / "mine" / f"{name}.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("name: mine\n")
    said = f"'{own}' is never read, since '{OURS}/{name}.yaml' has its name; give it another one.\n"
    assert said in refused(call, "--config-dir mine", PLAIN)
    assert said in refused(call, f"-m hydra.searchpath=[{tmp_path}/mine]", PLAIN)


def test_a_sweep_of_wandb_refuses_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scale").mkdir()
    (tmp_path / "scale" / "smoke.yaml").write_text("{name: smoke, steps: 3}")
    lines = [f"hydra.searchpath=[file://{tmp_path}]", "target=bernoulli4", "sampler=gibbs,dula"]
    assert wandb_sweep.main(lines) == 2
    assert "smoke.yaml' is never read, since '" in capsys.readouterr().err


def test_a_copy_of_ours_and_another_name_are_no_mistake(call: Call, tmp_path: Path) -> None:
    own = tmp_path / "mine" / "sampler"
    own.mkdir(parents=True)
    (own / "gibbs.yaml").write_bytes((OURS / "sampler" / "gibbs.yaml").read_bytes())
    (own / "gibbs_of_mine.yaml").write_text("defaults: [gibbs]\nname: gibbs_of_mine\n")
    places = f"hydra.searchpath=[pkg://conf,file://{OURS},file://mine]"
    ended = call(*PLAIN.replace("gibbs", "gibbs_of_mine").split(), places, "--dry-run")
    assert ended.status == 0, ended.err
