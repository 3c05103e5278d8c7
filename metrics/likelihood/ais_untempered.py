"""The biased estimator of log Z in released code, kept so that published likelihoods can be explained."""

from __future__ import annotations

from torch import Tensor

from metrics.likelihood.rbm_annealing import Annealing
from metrics.likelihood.softplus_sum import softplus_sum
from targets.models.rbm import RBM
from targets.randomness import Generator


class UntemperedAnnealing(Annealing):
    """Weights along beta U + (1 - beta) log p_0, but block Gibbs of the machine itself at every step.

    No transition keeps the law at its temperature, so log mean w does not converge to log Z but, with ever
    more temperatures, to log Z + KL(p || p_0): the weights add up to the mean of U - log p_0 under the
    machine p. The excess grows with what the machine has learned (experiments C and finding 6). p_0 is
    normalised: nothing is to be added to log mean w.

    Args:
        rbm: the machine.
        betas: inverse temperatures from 0 to 1, ``(steps + 1,)``.
        visible: where the chains start, `metrics.likelihood.rbm_annealing.base_draws` in released code.
        generator: streams with one entry per seed, or one generator.
    """

    def __init__(self, rbm: RBM, betas: Tensor, visible: Tensor, generator: Generator) -> None:
        super().__init__(rbm, betas, visible, generator)
        self.log_base = softplus_sum(self.base_bias)

    def _kernel_beta(self, beta: float) -> float:
        return 1.0

    def _weigh(self, before: float, after: float) -> None:
        """Adds (after - before) (U - log p_0) of where the chains stand."""
        gap = softplus_sum(self.logits) + self.tilted + self.log_base
        self.log_weights.add_(gap, alpha=after - before)
