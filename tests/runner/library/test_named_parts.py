"""Names read without Hydra describe what Hydra composes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf

import conf
import runner
from runner.config.compose import compose
from runner.config.tempering import without_leftovers
from runner.execution.errors import UserError
from runner.library.named_parts import described_option
from samplers import DMALA, ParallelTempering
from samplers.tuning.tunable import Tunable

CONF = Path(conf.__path__[0])


FAST = ("pt_dmala", "stmh", "acs", "mog", "tsp")
"""One of each kind; the others are tried with the slow tests."""


def options(group: str) -> list[object]:
    names = sorted(path.stem for path in (CONF / group).glob("*.yaml"))
    return [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in names]


def composed(group: str, name: str) -> Any:
    return OmegaConf.to_container(compose([f"{group}={name}"])[group], resolve=False)


@pytest.mark.parametrize("name", options("sampler"))
def test_a_sampler_is_described_as_hydra_composes_it(name: str) -> None:
    described = without_leftovers(described_option("sampler", name))
    if described.get("hottest") == 0:  # composed without it, for the sake of older ids
        del described["hottest"]
    assert described == composed("sampler", name)


@pytest.mark.parametrize("name", options("target"))
def test_a_target_is_described_as_hydra_composes_it(name: str) -> None:
    assert described_option("target", name) == composed("target", name)


def test_settings_are_those_of_the_command_line() -> None:
    kernel = runner.named_sampler("pt_dmala", ladder=[1.0, 0.5], step_size=20.0)
    assert isinstance(kernel, ParallelTempering)
    assert isinstance(kernel.base, DMALA)
    assert isinstance(runner.named_sampler("dmala"), Tunable)
    assert len(runner.named_target("mog", components=4).modes) == 4
    with pytest.raises(UserError, match=r"Unknown key 'target.componets'; did you mean 'components'"):
        runner.named_target("mog", componets=4)


def test_a_group_keeps_the_keys_that_are_not_given() -> None:
    settings = {"ladder": [1.0, 0.5], "step_size": 20.0}
    kernel = runner.named_sampler("pt_dmala", swap={"intensity": 0.5}, kernel={"balancing": 0.4}, **settings)
    assert isinstance(kernel, ParallelTempering)
    assert isinstance(kernel.base, DMALA)
    assert (kernel.swaps.intensity, kernel.base.balancing) == (0.5, 0.4)
    with pytest.raises(UserError, match=r"^Unknown key 'sampler.swap.rul'; did you mean 'rule'"):
        runner.named_sampler("pt_dmala", swap={"rul": "history"}, **settings)
    whole = "sampler.swap must be null or a group of keys with a _target_, such as samplers.Swaps with rule, "
    with pytest.raises(UserError, match=f"^{whole}pairing, intensity, shared_uniform, 'history' was given"):
        runner.named_sampler("pt_dmala", swap="history", **settings)


def test_settings_may_be_arrays_and_tensors() -> None:
    ladder, step = np.geomspace(1.0, 0.25, 3), [np.float32(0.5), torch.tensor(0.25), 2]
    kernel = runner.named_sampler("pt_dmala", ladder=ladder, step_size=step)
    plain = runner.named_sampler("pt_dmala", ladder=[1.0, 0.5, 0.25], step_size=[0.5, 0.25, 2])
    assert isinstance(kernel, ParallelTempering)
    assert isinstance(plain, ParallelTempering)
    assert kernel.betas.tolist() == plain.betas.tolist() == pytest.approx([1.0, 0.5, 0.25])
    assert torch.equal(torch.as_tensor(kernel.base.step_size), torch.as_tensor(plain.base.step_size))
    assert len(runner.named_target("mog", components=np.int64(4)).modes) == 4


def test_a_setting_that_no_configuration_holds_is_one_sentence() -> None:
    with pytest.raises(UserError, match="must be a number, text, a list or a group, "):
        runner.named_sampler("dlmc", balancing_function=torch.exp)
