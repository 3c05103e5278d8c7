"""References of a configuration, resolved once."""

from __future__ import annotations

import pytest
from omegaconf import OmegaConf

from runner.config.compose import compose
from runner.config.form import check_form


@pytest.mark.parametrize("text", ["a\\${scale.name}b", "\\${x}"])
def test_an_escaped_reference_stays_text(text: str) -> None:
    config = compose(["target=bernoulli4", "sampler=gibbs", f"target.name='{text}'"])
    before = config.target.name
    check_form(config, resolve=True)
    assert config.target.name == before
    assert "${" in before


def test_references_inside_groups_are_replaced() -> None:
    config = compose(["target=bernoulli4", "sampler=gibbs", "task.steps='${scale.steps}'"])
    assert OmegaConf.is_interpolation(config.task, "steps")
    check_form(config)
    assert OmegaConf.is_interpolation(config.task, "steps")
    check_form(config, resolve=True)
    assert not OmegaConf.is_interpolation(config.task, "steps")
    assert config.task.steps == config.scale.steps
