"""Annealed importance sampling of an RBM, from its reference distribution to it or back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from metrics.likelihood.annealing import Annealing
from metrics.likelihood.rbm_log_partition import softplus_sum
from metrics.metric import restore
from samplers.seed_blocks import alone
from targets.compiling import onednn
from targets.models.rbm import RBM
from targets.randomness import Generator, Streams, uniform


class RBMAnnealing(Annealing):
    """Chains that move along a sequence of inverse temperatures and accumulate log importance weights.

    The distribution at inverse temperature beta is that of an RBM with the weights beta W, the hidden biases
    beta c and the visible biases (1 - beta) logit(data mean) + beta b: independent pixels with the data
    mean at beta = 0, the RBM itself at beta = 1 (Salakhutdinov and Murray 2008, section 4.1). A step adds
    log p*_after(v) - log p*_before(v) to the log weight, then moves v by block Gibbs at the new beta.

    Forward, with an increasing schedule (`metrics.likelihood.ais_schedule`) and starts from
    `reference_draws`: E w = Z / Z_0, so log Z_0 + log mean w underestimates log Z on average. Reverse, with
    the flipped schedule and starts from the RBM: E w = Z_0 / Z, so log Z_0 - log mean w overestimates it on
    average, provided that the starts are exact draws (Burda, Grosse and Salakhutdinov 2015; Grosse,
    Ghahramani and Adams 2015). log Z_0 is `log_reference_partition`.

    A step costs two matrix products: the hidden logits c + Wv of the new states are used for the next weight
    and for the next transition. Memory does not grow with the number of temperatures, and no step waits for
    the device. The numbers of a seed do not depend on the other seeds in the batch.

    Args:
        rbm: the RBM; its parameters must not change during the annealing.
        betas, generator: see `Annealing`.
        visible: initial states, ``(*seeds, chains, n_visible)``.

    Attributes:
        visible: current states, ``(*seeds, chains, n_visible)``.
    """

    def __init__(self, rbm: RBM, betas: Tensor, visible: Tensor, generator: Generator) -> None:
        super().__init__(betas, generator)
        self.weight, self.hidden_bias = rbm.weight.detach(), rbm.hidden_bias.detach()
        self.visible_bias = rbm.visible_bias.detach()
        base = rbm.data_mean.double().logit()
        self.base_bias = base.to(self.visible_bias)
        self.tilt = (self.visible_bias.double() - base).to(self.visible_bias)
        self.visible = visible.to(self.weight, copy=True)
        self.log_weights = self.visible.new_zeros(self.visible.shape[:-1], dtype=torch.float64)
        self.logits, self.tilted = self._read(self.visible)

    @property
    def evaluations(self) -> int:
        """Evaluations of the RBM per chain so far: of the initial states, and one a step."""
        return 1 + self.step

    def _move(self, before: float, after: float) -> None:
        self._weigh(before, after)
        self.visible = self._transition(self.logits, self._kernel_beta(after))
        self.logits, self.tilted = self._read(self.visible)

    def _kernel_beta(self, beta: float) -> float:
        """Inverse temperature of the transition at `beta`."""
        return beta

    def _weigh(self, before: float, after: float) -> None:
        """Adds log p*_after - log p*_before of the current states to the log weights."""
        for logits, weights in zip(_by_seed(self.logits), self._weights_by_seed(), strict=True):
            weights += softplus_sum(logits, after) - softplus_sum(logits, before)
        self.log_weights.add_(self.tilted, alpha=after - before)

    def _weights_by_seed(self) -> Tensor:
        """The log weights ``(seeds, chains)``, sharing their memory."""
        return self.log_weights.view(-1, self.log_weights.shape[-1])

    def _transition(self, logits: Tensor, beta: float) -> Tensor:
        """New states by one block-Gibbs step at `beta`, from the hidden logits of the old ones."""
        batch = logits.shape[:-1]
        bias = torch.lerp(self.base_bias, self.visible_bias, beta)
        hidden = uniform(self.generator, batch, self.hidden_bias.shape, like=logits)
        visible = uniform(self.generator, batch, bias.shape, like=logits)
        # A product or function may round otherwise with more rows in it, or elsewhere in memory.
        for own, drawn, after in zip(*map(_by_seed, (logits, hidden, visible)), strict=True):
            # In place, a comparison keeps the dtype: no boolean tensor and no conversion.
            drawn.lt_(torch.mul(own, beta).sigmoid_())
            after.lt_(_affine(bias, alone(drawn), self.weight, beta).sigmoid_())
        return visible

    def _read(self, visible: Tensor) -> tuple[Tensor, Tensor]:
        """The hidden logits c + Wv and the visible part (b - logit(data mean))'v of the states."""
        batch, seeds = visible.shape[:-1], [alone(states) for states in _by_seed(visible)]
        logits = [_affine(self.hidden_bias, states, self.weight.T) for states in seeds]
        tilted = [torch.mv(states, self.tilt) for states in seeds]
        return _joined(logits).view(*batch, len(self.hidden_bias)), _joined(tilted).view(batch)

    def _saved(self) -> dict[str, Any]:
        return {"visible": self.visible.clone()}

    def _restore(self, state: Mapping[str, Any]) -> None:
        restore("visible", self.visible, state["visible"])
        self.logits, self.tilted = self._read(self.visible)


class UntemperedRBMAnnealing(RBMAnnealing):
    """Weights along beta U + (1 - beta) log p_0, but with block Gibbs at beta = 1 at every step.

    The transitions do not leave the intermediate distributions invariant. With an increasing number of
    temperatures log mean w therefore converges not to log Z but to log Z + KL(p || p_0), since the log
    weights add up to the mean of U - log p_0 under the RBM p. The error grows with training, as p moves away
    from p_0 (settings C and finding 6). p_0 is normalised: log mean w is the estimate of log Z itself.

    This is the estimator of the released code, whose initial states are `reference_draws`; it is provided to
    explain published likelihoods.
    """

    def __init__(self, rbm: RBM, betas: Tensor, visible: Tensor, generator: Generator) -> None:
        super().__init__(rbm, betas, visible, generator)
        self.log_base = softplus_sum(self.base_bias)

    def _kernel_beta(self, beta: float) -> float:
        return 1.0

    def _weigh(self, before: float, after: float) -> None:
        """Adds (after - before) (U - log p_0) of the current states."""
        tilted = self.tilted.view(-1, self.tilted.shape[-1])
        for logits, tilt, weights in zip(_by_seed(self.logits), tilted, self._weights_by_seed(), strict=True):
            weights.add_(softplus_sum(logits) + tilt + self.log_base, alpha=after - before)


def reference_draws(rbm: RBM, chains: int, streams: Streams) -> Tensor:
    """Exact draws from the reference distribution (beta = 0): ``(seeds, chains, n_visible)``."""
    return rbm.initial((len(streams.generators), chains), streams)


def log_reference_partition(rbm: RBM) -> float:
    """log Z_0 of the distribution at beta = 0: sum_i log(1 + exp(logit(mean_i))) + n_hidden log 2."""
    base = rbm.data_mean.double().logit()
    return float(softplus_sum(base) + softplus_sum(base.new_zeros(rbm.n_hidden)))


def _affine(bias: Tensor, states: Tensor, matrix: Tensor, scale: float = 1.0) -> Tensor:
    """bias + scale * states matrix, by oneDNN where that is faster."""
    if onednn.serves(len(states) * matrix.numel(), states, matrix):
        return torch.add(bias, onednn.product(states, matrix), alpha=scale)
    return torch.addmm(bias, states, matrix, alpha=scale)


def _joined(parts: list[Tensor]) -> Tensor:
    """The parts of the seeds in one tensor; no copy of the only one."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _by_seed(values: Tensor) -> Tensor:
    """`values` ``(*seeds, chains, event)`` with one leading axis for the seeds, sharing its memory."""
    return values.view(-1, *values.shape[-2:])
