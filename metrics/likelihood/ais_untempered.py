"""The biased estimator of log Z of the released code, provided to explain published likelihoods."""

from __future__ import annotations

from torch import Tensor

from metrics.likelihood.rbm_annealing import RBMAnnealing
from metrics.likelihood.softplus_sum import softplus_sum
from targets.models.rbm import RBM
from targets.randomness import Generator


class UntemperedRBMAnnealing(RBMAnnealing):
    """Weights along beta U + (1 - beta) log p_0, but with block Gibbs at beta = 1 at every step.

    The transitions do not leave the intermediate distributions invariant. With an increasing number of
    temperatures log mean w therefore converges not to log Z but to log Z + KL(p || p_0), since the log
    weights add up to the mean of U - log p_0 under the RBM p. The error grows with training, as p moves away
    from p_0 (settings C and finding 6). p_0 is normalised: log mean w is the estimate of log Z itself.

    Args:
        rbm: the RBM.
        betas: inverse temperatures from 0 to 1, ``(steps + 1,)``.
        visible: initial states; in the released code `metrics.likelihood.rbm_annealing.reference_draws`.
        generator: streams with one entry per seed, or one generator.
    """

    def __init__(self, rbm: RBM, betas: Tensor, visible: Tensor, generator: Generator) -> None:
        super().__init__(rbm, betas, visible, generator)
        self.log_base = softplus_sum(self.base_bias)

    def _kernel_beta(self, beta: float) -> float:
        return 1.0

    def _weigh(self, before: float, after: float) -> None:
        """Adds (after - before) (U - log p_0) of the current states."""
        gap = softplus_sum(self.logits) + self.tilted + self.log_base
        self.log_weights.add_(gap, alpha=after - before)
