"""A run whose auxiliary variables are no numbers any more ends with a sentence, not as done."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from runner.config.compose import compose
from runner.problem.build import build
from runner.tasks.sample import NotANumberError, Sampling, begin
from samplers import DMALA, configured
from samplers.proposals.entropic_langevin import THETA_A
from targets.randomness import Streams
from targets.spaces import Binary, Real
from targets.target import Target

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


class Edge(Target):
    """A normal density with a constant; NaN beyond five, where no cold chain comes."""

    def __init__(self, offset: float = 0.0) -> None:
        super().__init__()
        self.space, self.offset = Real(1), offset

    def log_prob(self, theta: torch.Tensor) -> torch.Tensor:
        inside = self.offset - theta.square().sum(-1) / 2
        return inside.masked_fill(theta.abs().amax(-1) > 5, torch.nan)


ON_EDGE = ("target=gaussian_mixture", "target.means=[[0]]", "task.chains=3", "task.steps=300", "metric=jump")


def test_nan_that_a_hot_replica_met_fails_its_seeds() -> None:
    sampler = ("sampler=pt_random_walk", "sampler.ladder=[1,0.02]", "sampler.step_size=[0.3,6]")
    with pytest.raises(NotANumberError, match=r"Gaussian\S+ gave NaN or infinity as a log density by step"):
        advance_to_the_end(begin(build(compose([*ON_EDGE, *sampler]), Edge()), [7]))


@pytest.mark.parametrize(("offset", "said"), [(-1e4, 0), (-1e8, 1)])
def test_a_log_density_beyond_its_precision_is_said_once(
    offset: float, said: int, capsys: pytest.CaptureFixture[str]
) -> None:
    sampler = ("sampler=mala", "sampler.step_size=0.3")
    advance_to_the_end(begin(build(compose([*ON_EDGE, *sampler]), Edge(offset)), [7, 8]))
    warning = "warning: gaussian_mixture / mala, 2 seeds: its log density is of size 1.0e+08, where float32"
    assert capsys.readouterr().err.count(warning) == said


def advance_to_the_end(work: Sampling) -> None:
    while not work.done:
        work.advance()


class Impossible(Target):
    """-inf in states with fewer than two ones, of which `initial` gives some."""

    def __init__(self) -> None:
        super().__init__()
        self.space = Binary(4)

    def log_prob(self, theta: torch.Tensor) -> torch.Tensor:
        ones = theta.sum(-1)
        return ones.masked_fill(ones < 2, -torch.inf)


@pytest.mark.parametrize("constrained", [False, True])
def test_chains_on_states_of_density_zero_are_told_of_constrained_targets(constrained: bool) -> None:
    small = ("target=bernoulli4", "sampler=dmala", "sampler.step_size=0.1", "task.chains=30", "metric=jump")
    target = Impossible()
    target.constrained = constrained
    with pytest.raises(NotANumberError, match=r" by step \d \(seed 7") as error:
        advance_to_the_end(begin(build(compose([*small, "task.steps=5"]), target), [7]))
    hint = "; it is -inf in some states of the chains, which only a constrained target may have: give"
    assert (hint in str(error.value)) is not constrained


def test_a_pilot_on_states_of_density_zero_tells_of_constrained_targets() -> None:
    said = "NaN or infinite in the tuning pilot; it is -inf in some .* constrained = True"
    with pytest.raises(ValueError, match=said):
        configured(DMALA).tuned(Impossible(), Streams([0], "tuning"))
