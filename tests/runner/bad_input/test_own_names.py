"""A sampler or a target of one's own has a name of its own: tables tell runs apart by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Call, refused

OWN = """
from samplers import Gibbs
from targets.synthetic.bernoulli4 import Bernoulli4


class Mine(Gibbs):
    pass


class Target(Bernoulli4):
    pass
"""


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_names.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    for group, name, cls in [
        ("sampler", "gibbs", "Mine"),
        ("sampler", "my_gibbs", "Mine"),
        ("target", "ising", "Target"),
    ]:
        folder = tmp_path / "mine" / group
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"own_{name}.yaml").write_text(f"name: {name}\n_target_: own_names.{cls}\n")


@pytest.mark.parametrize(
    ("given", "key", "cls"),
    [
        ("target=bernoulli4 sampler=own_gibbs", "sampler.name=gibbs", "Mine"),
        ("target=bernoulli4 sampler=own_gibbs tempering=parallel", "sampler.name=gibbs", "Mine"),
        ("target=bernoulli4 sampler=own_my_gibbs sampler.name=dmala", "sampler.name=dmala", "Mine"),
        ("target=own_ising sampler=gibbs", "target.name=ising", "Target"),
    ],
)
def test_the_name_of_one_of_ours_is_refused(call: Call, given: str, key: str, cls: str) -> None:
    group = key.partition(".")[0]
    assert refused(call, f"--config-dir mine metric=tv {given}").startswith(
        "error: "
        f"{key} is the name of a {group} of this project, and own_names.{cls} is another class: give it"
    )


def test_another_name_is_taken(call: Call) -> None:
    few = ("metric=tv", "task.steps=5", "task.chains=2", "sampler=own_my_gibbs")
    assert call("--config-dir", "mine", "target=bernoulli4", *few).status == 0
    assert call("--config-dir", "mine", "target=own_ising", "target.name=mine", *few).status == 0
