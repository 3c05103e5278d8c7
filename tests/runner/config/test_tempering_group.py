"""The group `tempering`: both spellings of a tempered sampler are one run, and nonsense is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from runner.config.compose import compose, compose_by_groups
from runner.config.construct_sampler import construct_sampler
from runner.config.key_group import node
from runner.execution.errors import UserError
from runner.problem.build import label
from runner.sweep.jobs import requested
from runner.tasks.run_identity import run_ids
from samplers.tempering.parallel_tempering import ParallelTempering
from tests.support.commands import refusal

PAIRS = {
    "pt_dmala": ("dmala", "parallel"),
    "pt_dula": ("dula", "parallel"),
    "pt_edmala": ("edmala", "parallel"),
    "pt_gibbs": ("gibbs", "parallel"),
    "pt_rbm_gibbs": ("rbm_gibbs", "parallel"),
    "pt_tour_swap": ("tour_swap", "parallel"),
    "st_dmala": ("dmala", "simulated"),
}


def described(*lines: str) -> tuple[dict[str, Any], str, dict[int, str]]:
    """The sampler's node, its label in results and the run id of each seed, as a command has them."""
    request = requested(lines, multirun=False)
    config = compose_by_groups(request.plans[0].overrides, request.names.groups)
    assert config == compose(request.plans[0].overrides)
    return node(config, "sampler"), label(config, "sampler"), run_ids(config, "cpu", [0, 1])


@pytest.mark.parametrize("name", PAIRS)
def test_both_spellings_are_one_run(name: str) -> None:
    sampler, tempering = PAIRS[name]
    assert described(f"sampler={sampler}", f"tempering={tempering}") == described(f"sampler={name}")


def test_both_spellings_are_one_run_under_overrides() -> None:
    group = [
        "sampler=dmala",
        "tempering=parallel",
        "tempering.ladder=[1.0,0.4]",
        "tempering.swap.rule=history",
    ]
    group += ["sampler.step_size=[0.5,2.0]", "sampler.acceptance=0.6", "sampler.balancing=0.4"]
    short = ["sampler=pt_dmala", "sampler.ladder=[1.0,0.4]", "sampler.swap.rule=history"]
    short += ["sampler.step_size=[0.5,2.0]", "sampler.acceptance=0.6", "sampler.kernel.balancing=0.4"]
    assert described(*group) == described(*short)
    found, name, _ = described(*group)
    assert name == "pt_dmala"
    assert set(found["kernel"]) == {"_target_", "balancing", "norm"}
    simulated = ["sampler=mala", "tempering=simulated", "tempering.ladder=fine", "tempering.pilot.steps=50"]
    assert described(*simulated) == described(
        "sampler=st_mala", "sampler.ladder=fine", "sampler.pilot.steps=50"
    )


def test_the_default_end_of_a_ladder_is_no_part_of_a_run() -> None:
    """Runs of before there was the key keep their ids."""
    plain = described("sampler=pt_dmala")
    assert "hottest" not in plain[0]
    assert described("sampler=pt_dmala", "sampler.hottest=0") == plain
    hot = described("sampler=pt_dmala", "sampler.hottest=0.3")
    assert hot == described("sampler=dmala", "tempering=parallel", "tempering.hottest=0.3")
    assert hot[2] != plain[2]


@pytest.mark.parametrize("sampler", ["random_walk", "acs", "ab", "hamming_ball", "edula_glu", "gwg"])
def test_any_sampler_can_be_tempered(sampler: str) -> None:
    lines = [f"sampler={sampler}", "tempering=parallel", "tempering.ladder=[1.0,0.4]"]
    lines += ["sampler.step_size=1.0"] if sampler not in ("hamming_ball", "gwg") else []
    if sampler == "acs":
        lines += ["sampler.min_step_size=0.5", "sampler.balancing=0.6"]
    lines += ["sampler.balancing=0.6"] if sampler == "ab" else []
    found, name, _ = described(*lines)
    assert name == f"pt_{sampler}"
    kernel = construct_sampler(found, "sampler")
    assert isinstance(kernel, ParallelTempering)
    assert kernel.axes == (2,)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["tempering=parallel"], "tempering=parallel needs a sampler at one temperature; sampler=pt_dmala"),
        (["sampler=reld", "tempering=simulated"], "sampler=reld is tempered already"),
        (["sampler=dmala", "tempering=paralel"], "did you mean 'parallel'"),
        (["sampler=dmala", "tempering=parallel", "tempering.lader=auto"], "did you mean 'tempering.ladder'"),
        (["sampler=dmala", "tempering.ladder=auto"], "Unknown key 'tempering.ladder'"),
        (["sampler=pt_dmala", "sampler.kernel.step_size=1.0"], "Unknown key 'sampler.kernel.step_size'"),
        (["sampler=pt_dmala", "sampler.prefix=x"], "Unknown key 'sampler.prefix'"),
    ],
)
def test_nonsense_is_refused_in_one_sentence(lines: Sequence[str], words: str) -> None:
    with pytest.raises(UserError, match=words) as error:
        described(*lines)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("tempering=annealed tempering.schedule=bad", "tempering.schedule must be one of exponential,"),
        ("tempering=parallel tempering.swap.rule=bad", "tempering.swap.rule must be one of corrected,"),
        ("tempering=parallel tempering.ladder=bad", "tempering.ladder must be 'auto' or"),
        ("tempering=parallel sampler.balancing=7", "sampler.balancing must be a number from 0 to 1"),
        ("tempering=parallel sampler.step_size=-1", "sampler.step_size must be"),
        ("-m tempering=simulated tempering.rate=7,8", "tempering.rate must be"),
    ],
)
def test_an_error_names_the_key_that_was_written(given: str, words: str) -> None:
    """Which is that of the group, not of the sampler that it is folded into."""
    said = refusal("target=bernoulli4 sampler=dmala", given)
    assert said.startswith(words)
    assert "(job: " in said or "-m" not in given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "tempering=parallel task.chains=${tempering.replicas}",
            "Interpolation key 'tempering.replicas' not found; the keys of a tempering are referred to where "
            "they are folded in, ${sampler.replicas}.",
        ),
        ("tempering=parallel task.chains=${tempering.swap.rule}", "folded in, ${sampler.swap.rule}."),
        ("task.chains=${tempering.replicas}", "'tempering.replicas' not found; tempering has name."),
        (
            "tempering=parallel task.chains=${tempering.replica}",
            "'tempering.replica' not found; tempering has",
        ),
    ],
)
def test_a_reference_to_a_tempering_is_told_where_its_key_is(given: str, said: str) -> None:
    assert said in refusal("target=bernoulli4 sampler=dmala", given)


def test_an_error_names_the_key_of_a_tempered_sampler() -> None:
    said = refusal("target=bernoulli4 sampler=pt_dmala sampler.swap.rule=bad tempering=none")
    assert said.startswith("sampler.swap.rule must be one of corrected,")
    said = refusal("target=bernoulli4 sampler=pt_dmala sampler.kernel.balancing=7")
    assert said.startswith("sampler.kernel.balancing must be a number from 0 to 1")


def test_a_sampler_that_has_no_temperature_is_refused() -> None:
    found, _, _ = described("sampler=exact_draws", "tempering=parallel")
    with pytest.raises(UserError, match=r"kernel must serve inverse temperatures below 1, ExactDraws does"):
        construct_sampler(found, "sampler")


WRAPPER = '''
from samplers import DMALA, ParallelTempering
from samplers.tuning.configured import configured, has_builder


class Reheated(ParallelTempering):
    """Parallel tempering that forgets its first rung's number."""


def reheated(kernel, ladder, step_size=None, acceptance=0.574):
    return configured(ParallelTempering, kernel, ladder=ladder, step_size=step_size, acceptance=acceptance)


has_builder(Reheated, reheated)
'''


def test_another_tempering_is_one_file_and_one_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mytempering.py").write_text(WRAPPER)
    folder = tmp_path / "conf" / "tempering"
    folder.mkdir(parents=True)
    (folder / "reheated.yaml").write_text(
        "name: reheated\nprefix: rh_\n_target_: mytempering.Reheated\nladder: [1.0, 0.5]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    lines = [f"hydra.searchpath=[file://{tmp_path / 'conf'}]", "sampler=mala", "tempering=reheated"]
    request = requested([*lines, "sampler.step_size=0.3"], multirun=False)
    config = compose_by_groups([*request.hydra, *request.plans[0].overrides], request.names.groups)
    assert label(config, "sampler") == "rh_mala"
    kernel = construct_sampler(node(config, "sampler"), "sampler")
    assert isinstance(kernel, ParallelTempering)
    assert torch.equal(kernel.step_sizes, torch.full((2,), 0.3, dtype=torch.float64))


def test_another_tempering_without_a_prefix_does_not_have_the_name_of_its_sampler() -> None:
    config = compose(
        ["sampler=mala", "tempering=parallel", "tempering._target_=mine.Ladder", "~tempering.prefix"]
    )
    assert label(config, "sampler") == "Ladder_mala"


def test_the_first_temperature_of_annealing_is_kept_where_it_is_zero() -> None:
    """Only an automatic ladder is composed without its default of 0."""
    annealed = compose(["sampler=gwg", "tempering=annealed", "tempering.hottest=0"]).sampler
    assert annealed.hottest == 0
    assert "hottest" not in compose(["sampler=gwg", "tempering=parallel"]).sampler
