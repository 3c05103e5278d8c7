"""A run whose auxiliary variables are no numbers any more ends with a sentence, not as done."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from runner.config.compose import compose
from runner.problem.build import build
from runner.tasks.sample import NotANumberError, Sampling, begin
from samplers.proposals.entropic_langevin import THETA_A

SAYS = r"^The auxiliary variable theta_a of the chains on \S+ became NaN or infinite by step \d \(seed 8\)\.$"


@pytest.mark.parametrize("tempered", [(), ("tempering=parallel", "tempering.ladder=[1.0,0.5]")])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_auxiliary_that_is_no_number_fails_its_seed(tempered: tuple[str, ...], value: float) -> None:
    config = compose(
        [
            *("target=bernoulli4", "sampler=edula", "sampler.step_size=0.2", *tempered),
            *("task.chains=3", "task.steps=5", "metric=jump"),
        ]
    )
    work = begin(build(config), [7, 8])
    theta_a = work.state.aux[THETA_A]
    # The chains of seed 8; NaN makes no log density NaN there, as the move is taken.
    theta_a[..., 1, 2, 0] = value
    assert theta_a.shape[-3:-1] == torch.Size([2, 3])
    with pytest.raises(NotANumberError, match=SAYS) as error:
        work.advance()
    assert error.value.seeds == [8]


@pytest.mark.parametrize(
    ("sampler", "ends"),
    [
        (
            ("sampler=ula", "sampler.step_size=3"),
            ", or the step size of the unadjusted sampler is too large.",
        ),
        (("sampler=mala", "sampler.step_size=3"), "(seed 7)."),
    ],
)
def test_an_unadjusted_sampler_that_diverges_does_not_blame_the_target_alone(
    sampler: tuple[str, ...], ends: str
) -> None:
    one = ("target=gaussian_mixture", "target.means=[[0]]", "task.chains=3", "task.steps=1000", "metric=jump")
    work = begin(build(compose([*one, *sampler])), [7])
    if sampler[0] == "sampler=mala":
        # Chains that accept and reject do not run away: here it is the target.
        work.state = replace(work.state, log_prob=torch.full_like(work.state.log_prob, torch.nan))
    with pytest.raises(NotANumberError, match="NaN or infinity as a log density") as error:
        advance_to_the_end(work)
    assert str(error.value).endswith(ends)


def advance_to_the_end(work: Sampling) -> None:
    while not work.done:
        work.advance()
