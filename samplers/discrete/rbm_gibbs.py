"""Block Gibbs between the layers of a restricted Boltzmann machine, exact at every inverse temperature."""

from __future__ import annotations

import torch
from torch import Tensor

from samplers.kernel import Info, Kernel, NotEnumerableError, State, check_states
from samplers.metropolis_hastings import accepted, jump_length
from samplers.proposals.prepared_beta import PreparedBeta
from targets.models.rbm import RBM
from targets.randomness import Generator, uniform
from targets.spaces import Binary
from targets.sum_log import softplus, sum_log
from targets.target import Target

HIDDEN_LOGITS = "hidden_logits"
"""Key in ``State.aux`` of c + W theta, ``(*batch, n_hidden)``, which belongs to theta."""

MOST_HIDDEN, MOST_VISIBLE = 14, 12
"""Units up to which `RBMGibbs.log_transition` lists the states of a layer."""

PIECE = 2**10
"""Hidden states that `RBMGibbs.log_transition` sums over at once."""


class RBMGibbs(Kernel):
    """Draws the hidden layer, then the visible one, and accepts so that exp(beta U) stays invariant.

    At inverse temperature beta both layers are drawn from the joint exp(beta (h'Wv + c'h + b'v)). That is
    reversible for its marginal mu_beta(v) = exp(sum_j softplus(beta (c_j + W_j v)) + beta b v), which is
    exp(beta U(v)) at beta = 1 only. The move is therefore accepted with probability min(1, e^{r' - r}) where

        r(v) = beta U(v) - log mu_beta(v) = sum_j beta softplus(l_j) - softplus(beta l_j),  l = c + Wv,

    which is 0 at beta = 1: plain block Gibbs, which accepts every move. A step costs two matrix products, as
    one evaluation of U and its gradient does; the logits of theta are cached in the state.

    Spaces: RBMs.
    Cost: two matrix products, as one evaluation.
    Source: Hinton (2002).
    """

    exact = True
    at_one: PreparedBeta | None = None

    def check(self, target: Target) -> None:
        _rbm_of(target)

    def prepared(self, target: Target, beta: Tensor) -> Kernel:
        """At beta = 1 one that accepts every move without a look at r."""
        if beta.dim() or float(beta) != 1.0:
            return self
        return self.prepared_copy(target, at_one=PreparedBeta(beta))

    @torch.no_grad()
    def init(self, target: Target, theta: Tensor, beta: Tensor) -> State:
        rbm = _rbm_of(target)
        check_states(rbm, theta)
        return _state(rbm, theta)

    @torch.no_grad()
    def step(self, target: Target, state: State, beta: Tensor, generator: Generator) -> tuple[State, Info]:
        if self.at_one is not None:
            self.at_one.check(beta)
            proposed = _proposed(_rbm_of(target), state, None, generator)
            # The number of an acceptance is drawn all the same, so that a seed has the same draws.
            uniform(generator, proposed.log_prob.shape, like=proposed.log_prob)
            after, acceptance = proposed, 1.0 + 0.0 * proposed.log_prob  # NaN where that is NaN
        else:
            inverse = torch.as_tensor(beta).to(state.log_prob).unsqueeze(-1)
            proposed = _proposed(_rbm_of(target), state, inverse, generator)
            log_acceptance = _log_acceptance(state, proposed, inverse)
            after, acceptance = accepted(log_acceptance, proposed, state, generator)
        jump = jump_length(target.space, state.theta, after.theta)
        return after, Info(acceptance=acceptance, jump=jump, evaluations=1)

    @torch.no_grad()
    def log_transition(self, target: Target, source: State, destination: Tensor, beta: Tensor) -> Tensor:
        """log P(source -> destination) of one step at one `beta`, shape ``(*batch)``, which both share.

        Raises:
            NotEnumerableError: for more than 12 visible or 14 hidden units, too many states to list.
        """
        rbm = _rbm_of(target)
        if rbm.n_visible > MOST_VISIBLE or rbm.n_hidden > MOST_HIDDEN:
            raise NotEnumerableError(
                f"n_visible must be at most {MOST_VISIBLE} and n_hidden at most {MOST_HIDDEN} to list the "
                f"states of both layers, {rbm.n_visible} and {rbm.n_hidden} were given"
            )
        matrix = _transition_matrix(rbm, beta)
        return matrix[rbm.space.index(source.theta), rbm.space.index(destination)].log()


def _rbm_of(target: Target) -> RBM:
    if isinstance(target, RBM):
        return target
    raise ValueError(
        "rbm_gibbs needs a restricted Boltzmann machine (targets.models.rbm.RBM), "
        f"{type(target).__name__} was given"
    )


def _state(rbm: RBM, theta: Tensor) -> State:
    """The state at `theta` from one matrix product."""
    logits = rbm.hidden_logits(theta)
    return State(theta, rbm.log_prob_of(theta, logits), aux={HIDDEN_LOGITS: logits})


def _proposed(rbm: RBM, state: State, inverse: Tensor | None, generator: Generator) -> State:
    """The state after both layers were drawn; `inverse` is beta with an axis for the units, None for 1."""
    batch, logits = state.log_prob.shape, state.aux[HIDDEN_LOGITS]
    hidden = _bernoulli(rbm, logits.clone() if inverse is None else inverse * logits, batch, generator)
    logits = rbm.visible_logits(hidden)
    visible = _bernoulli(rbm, logits if inverse is None else inverse * logits, batch, generator)
    return _state(rbm, visible)


def _bernoulli(rbm: RBM, logits: Tensor, batch: torch.Size, generator: Generator) -> Tensor:
    """Bits ``(*batch, units)`` drawn with log odds `logits`, in whose place their probabilities are put."""
    return uniform(generator, batch, logits.shape[-1:], like=logits).lt_(rbm.activation(logits))


def _log_acceptance(source: State, destination: State, inverse: Tensor) -> Tensor:
    """log min(1, e^{r' - r}), shape ``(*batch)``; `inverse` is beta with an axis for the units."""
    difference = _excess(destination.aux[HIDDEN_LOGITS], inverse) - _excess(
        source.aux[HIDDEN_LOGITS], inverse
    )
    return difference.clamp(max=0.0)


def _excess(logits: Tensor, inverse: Tensor) -> Tensor:
    """r: softplus(x) = max(x, 0) + log(1 + e^{-|x|}), and the linear parts of r cancel."""
    away = logits.abs().neg_()
    first = sum_log(away.exp().add_(1.0))
    return inverse.squeeze(-1) * first - sum_log(away.mul(inverse).exp_().add_(1.0))


def _transition_matrix(rbm: RBM, beta: Tensor) -> Tensor:
    """P ``(2 ** n_visible, 2 ** n_visible)`` of one step, summed over the states of the hidden layer."""
    like = rbm.weight
    start = _state(rbm, rbm.space.states(like.dtype).to(like.device))
    size, inverse = len(start.theta), torch.as_tensor(beta).to(like).reshape(1)
    proposal = start.theta.new_zeros((size, size))
    logits = inverse * start.aux[HIDDEN_LOGITS]
    states = Binary(rbm.n_hidden).states(like.dtype).to(like.device)
    for hidden in torch.split(states, PIECE):
        down = _log_bernoulli(inverse * rbm.visible_logits(hidden), start.theta)
        proposal += _log_bernoulli(logits, hidden).exp() @ down.exp()
    here = State(start.theta, start.log_prob, aux={HIDDEN_LOGITS: start.aux[HIDDEN_LOGITS].unsqueeze(1)})
    matrix = proposal * _log_acceptance(here, start, inverse).exp()
    # A chain is where it was because it drew that state again, or because it was refused another.
    matrix += torch.diag((proposal - matrix).sum(-1))
    return matrix


def _log_bernoulli(logits: Tensor, bits: Tensor) -> Tensor:
    """log probability ``(m, n)`` of each of the `bits` ``(n, units)`` given log odds ``(m, units)``."""
    return logits @ bits.T - softplus(logits).sum(-1, keepdim=True)
