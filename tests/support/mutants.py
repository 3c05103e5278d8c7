"""Deliberately broken samplers, each a mistake that was made in practice; the checks must catch them all."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from samplers.choice import choose
from samplers.cluster.cluster_kernel import Choice
from samplers.cluster.wolff import Wolff
from samplers.informed.dlmc import DLMC
from samplers.informed.pas import PAS
from samplers.kernel import Info, Kernel, State, evaluate
from samplers.metropolis_hastings import MetropolisHastings, jump_length
from samplers.proposals.discrete_langevin import LangevinProposal
from samplers.proposals.jump_process import JumpProcess
from samplers.proposals.paths import MoveWeights, Path
from samplers.tempering.swaps.swap_round import Swaps
from samplers.tempering.swaps.swap_rules import SwapRule
from targets import Discrete, PairwiseTerms, Space, Target
from targets.randomness import Generator, uniform


def _proposal() -> LangevinProposal:
    return LangevinProposal(torch.tensor(1.0, dtype=torch.float64))


class AcceptanceWithoutBeta(MetropolisHastings):
    """The released acceptance: U is not tempered (settings I, row 5)."""

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        reverse = self.proposal.log_prob(space, destination, source.theta, beta)
        return (destination.log_prob - source.log_prob + reverse - forward).clamp(max=0.0)


class ReverseScaledTwice(MetropolisHastings):
    """The released reverse proposal: its gradient carries beta / 2 and is scaled by it again (row 6)."""

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        assert destination.grad is not None
        scaled = replace(destination, grad=0.5 * beta * destination.grad)
        reverse = self.proposal.log_prob(space, scaled, source.theta, beta)
        return (beta * (destination.log_prob - source.log_prob) + reverse - forward).clamp(max=0.0)


class MissingReverse(MetropolisHastings):
    """Metropolis without Hastings: the proposal is taken for symmetric."""

    def _log_acceptance(
        self, space: Space, source: State, destination: State, beta: Tensor, forward: Tensor
    ) -> Tensor:
        return (beta * (destination.log_prob - source.log_prob)).clamp(max=0.0)


class StaleGradient(MetropolisHastings):
    """An accepted move keeps the gradient of the state that it left."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        after, info = super().step(target, state, beta, generator)
        return replace(after, grad=state.grad), info


class ReusedUniform(MetropolisHastings):
    """One uniform number decides both the first bit's flip and the acceptance."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        proposal = self.proposal
        assert isinstance(proposal, LangevinProposal)
        logit = proposal._flip_logits(state, proposal.drift(state, beta))
        draws = uniform(generator, state.theta.shape[:-1], state.theta.shape[-1:], like=state.theta)
        theta = torch.where(draws < logit.sigmoid(), 1.0 - state.theta, state.theta)
        proposed = evaluate(target, theta, gradient=True)
        acceptance = self.log_acceptance(target.space, state, proposed, beta).exp()
        after = choose(draws[..., 0] < acceptance, proposed, state)
        jump = jump_length(target.space, state.theta, after.theta)
        return after, Info(acceptance=acceptance, jump=jump, evaluations=1)


class LopsidedFlip:
    """Flips one bit, a 0 three times as often as a 1, while `log_prob` says that all are as likely."""

    needs_gradient = False

    def propose(
        self, space: Space, state: State, beta: Tensor, generator: Generator
    ) -> tuple[Tensor, Tensor]:
        weight = 3.0 - 2.0 * state.theta
        draw = uniform(generator, state.log_prob.shape, (1,), like=weight) * weight.sum(-1, keepdim=True)
        place = (weight.cumsum(-1) <= draw).sum(-1, keepdim=True)
        theta = state.theta.scatter(-1, place, 1.0 - state.theta.gather(-1, place))
        return theta, self.log_prob(space, state, theta, beta)

    def log_prob(self, space: Space, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        flipped = (source.theta != destination).sum(-1)
        return torch.zeros_like(source.log_prob).masked_fill(flipped != 1, -torch.inf) - math.log(space.d)


class StepWithoutBeta(MetropolisHastings):
    """Forgets beta where it steps, and nowhere else."""

    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        return super().step(target, state, torch.ones_like(beta), generator)


class ForgottenPathBack(PAS):
    """Takes the path for symmetric."""

    def _log_path_probs(self, here: MoveWeights, there: MoveWeights, path: Path) -> tuple[Tensor, Tensor]:
        forward = here.log_prob(path)
        return forward, forward


class PathBackInAnotherOrder(PAS):
    """Begins the way back with the last move and goes on with the first: its own way back is another path.

    The order of the way there would do as well as the reversed one, since all weights are those of one end.
    """

    def _log_path_probs(self, here: MoveWeights, there: MoveWeights, path: Path) -> tuple[Tensor, Tensor]:
        sites, before, after, made = (
            part.roll(1, -1) for part in (path.sites, path.after, path.before, path.made)
        )
        return here.log_prob(path), there.log_prob(Path(sites, before, after, made))


class RadiusOfTheState(PAS):
    """Adapts the length of its paths to the state that it stands at, and corrects for nothing."""

    def lengths(self, state: State, d: int, generator: Generator) -> Tensor:
        lengths = super().lengths(state, d, generator)
        return torch.where(state.theta.sum(-1, keepdim=True) > 1, lengths, 1.0)


class UnbalancedFunction(DLMC):
    """Weighs moves by g(t) = t, behind the back of the constructor, which refuses it."""

    def __init__(self, step_size: float) -> None:
        super().__init__(step_size)
        assert isinstance(self.proposal, JumpProcess)
        self.function = self.proposal.function = torch.clone


class BondsOfAllNeighbours(Wolff):
    """Makes bonds of edges whose ends differ as well."""

    def _bond_chances(
        self, space: Discrete, terms: PairwiseTerms, levels: Tensor, choice: Choice, beta: Tensor
    ) -> Tensor:
        chances = 1.0 - (-beta * terms.couplings.abs()).exp()
        return chances.expand(*levels.shape[:-1], len(terms.edges))


class ReversedSwapSign(SwapRule):
    """The Metropolis rule with the energies the wrong way round, claiming to be exact (row 2)."""

    sign = -1.0


class SwapWithoutGap(SwapRule):
    """Swaps whatever the energies are, claiming to be exact (row 1)."""

    always = True


LATTICE_MUTANTS: dict[str, Callable[[], Kernel]] = {"bonds of all neighbours": BondsOfAllNeighbours}

KERNEL_MUTANTS: dict[str, Callable[[], Kernel]] = {
    "acceptance without beta": lambda: AcceptanceWithoutBeta(_proposal()),
    "reverse proposal scaled twice": lambda: ReverseScaledTwice(_proposal()),
    "missing reverse term": lambda: MissingReverse(_proposal()),
    "stale cached gradient": lambda: StaleGradient(_proposal()),
    "reused uniform": lambda: ReusedUniform(_proposal()),
    "lopsided proposal": lambda: MetropolisHastings(LopsidedFlip()),
    "step without beta": lambda: StepWithoutBeta(_proposal()),
    "forgotten path back": lambda: ForgottenPathBack(2.0),
    "path back in another order": lambda: PathBackInAnotherOrder(2.0),
    "radius of the state": lambda: RadiusOfTheState(2.0),
}


def _swaps(rule: SwapRule) -> Swaps:
    swaps = Swaps(pairing="sequential")
    swaps.rule = rule
    return swaps


SWAP_MUTANTS: dict[str, Callable[[], Swaps]] = {
    "reversed swap sign": lambda: _swaps(ReversedSwapSign()),
    "swap without a criterion": lambda: _swaps(SwapWithoutGap()),
}
