"""The likelihood of an RBM: its own AIS from both ends, and the released estimator beside it."""

from __future__ import annotations

from pathlib import Path

import torch
from omegaconf import DictConfig
from torch import Tensor

from metrics.likelihood.ais_untempered import UntemperedRBMAnnealing
from metrics.likelihood.importance_weights import Estimate, log_mean_weight
from metrics.likelihood.rbm_annealing import RBMAnnealing, log_reference_partition, reference_draws
from metrics.likelihood.rbm_log_partition import (
    MAX_UNITS,
    exact_rbm_log_partition,
    rbm_mean_log_prob,
    rbm_reference_log_likelihood,
)
from runner.execution import signals
from runner.tasks.likelihood.ais_settings import AISSettings
from runner.tasks.likelihood.annealings import Annealings, both_ends
from samplers.discrete.rbm_gibbs import RBMGibbs
from targets.datasets.dataset import Dataset
from targets.models.rbm import RBM
from targets.randomness import Streams

BLOCK = 100
"""Temperatures between two looks at progress, signals and the checkpoint."""


def rbm_likelihood(
    rbm: RBM, data: Dataset, settings: AISSettings, seed: int, config: DictConfig, checkpoint: Path
) -> dict[str, float]:
    """The values that `runner.tasks.likelihood.model_likelihood` describes, for an RBM on its device.

    ``log_likelihood_untempered`` uses the released estimator. With at most 20 units in a layer
    ``log_likelihood_exact`` joins them.
    """
    runs = _Annealings(rbm, data, settings, seed, config, checkpoint)
    base = log_reference_partition(rbm)
    forward = runs.estimate("forward").shifted(base)
    reverse = runs.estimate("reverse").reversed(base)
    untempered = runs.estimate("untempered")
    test = rbm_mean_log_prob(rbm, data.test)
    values = both_ends(
        forward,
        reverse,
        test,
        rbm_mean_log_prob(rbm, data.train),
        rbm_reference_log_likelihood(rbm, data.test),
    )
    values["log_z_untempered"] = untempered.value
    values["log_likelihood_untempered"] = test - untempered.value
    if min(rbm.n_hidden, rbm.n_visible) <= MAX_UNITS:
        values["log_z_exact"] = exact_rbm_log_partition(rbm)
        values["log_likelihood_exact"] = test - values["log_z_exact"]
    return values | {"ais_seconds": runs.seconds()}


class _Annealings(Annealings):
    """The three annealings of an RBM."""

    def __init__(
        self, rbm: RBM, data: Dataset, settings: AISSettings, seed: int, config: DictConfig, checkpoint: Path
    ) -> None:
        super().__init__(config, checkpoint, BLOCK)
        self.rbm, self.data, self.settings, self.seed = rbm, data, settings, seed

    def estimate(self, name: str) -> Estimate:
        """log of the mean weight of the annealing `name`."""
        begin = {"forward": self._forward, "reverse": self._reverse, "untempered": self._untempered}[name]

        def begun() -> RBMAnnealing:
            return begin(Streams([self.seed], f"ais/{name}", self.rbm.weight.device))

        return log_mean_weight(self.log_weights(name, begun), self.seed)

    def _forward(self, streams: Streams) -> RBMAnnealing:
        start = reference_draws(self.rbm, self.settings.chains, streams)
        return RBMAnnealing(self.rbm, self.settings.betas, start, streams)

    def _untempered(self, streams: Streams) -> RBMAnnealing:
        start = reference_draws(self.rbm, self.settings.chains, streams)
        return UntemperedRBMAnnealing(self.rbm, self.settings.betas, start, streams)

    def _reverse(self, streams: Streams) -> RBMAnnealing:
        return RBMAnnealing(self.rbm, self.settings.betas.flip(0), self._model_draws(streams), streams)

    @torch.no_grad()
    def _model_draws(self, streams: Streams) -> Tensor:
        """Draws of the model by block Gibbs from training images, ``(1, chains, n_visible)``."""
        kernel, like = RBMGibbs(), self.rbm.weight
        places = streams.uniform((1, self.settings.chains), (), torch.float64)
        images = self.data.train[(places * len(self.data.train)).long().cpu()].to(like)
        if "reverse" in self.saved:
            return images  # what was saved takes their place
        one = torch.ones((), dtype=like.dtype, device=like.device)
        state = kernel.init(self.rbm, images, one)
        for step in range(self.settings.draw_steps):
            state, _ = kernel.step(self.rbm, state, one, streams)
            if step % BLOCK == 0:
                signals.obey()
        return state.theta
