"""The likelihood of an RBM: its own AIS from both ends, and the released estimator beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig
from torch import Tensor

from metrics.likelihood.importance_weights import log_mean_weight
from metrics.likelihood.rbm_annealing import (
    RBMAnnealing,
    UntemperedRBMAnnealing,
    log_reference_partition,
    reference_draws,
)
from metrics.likelihood.rbm_log_partition import MAX_UNITS, exact_rbm_log_partition, rbm_mean_log_prob
from metrics.likelihood.target_log_partition import reference_log_likelihood
from runner.files.resumable import run_to_end, save_plan
from runner.tasks.likelihood.ais_settings import AISSettings
from runner.tasks.likelihood.annealings import Annealings, Likelihood, Walk, both_ends
from samplers import RBMGibbs, State
from samplers.stepper import Stepper
from targets import RBM, Dataset, Streams

BLOCK = 100
"""Steps between two looks at progress, signals and the checkpoint."""


def rbm_likelihood(
    rbm: RBM, data: Dataset, settings: AISSettings, seed: int, config: DictConfig, checkpoint: Path
) -> Likelihood:
    """The values that `runner.tasks.likelihood.model_likelihood` describes, for an RBM on its device.

    ``log_likelihood_untempered`` uses the released estimator. With at most 20 units in a layer
    ``log_likelihood_exact`` joins them.
    """
    annealings = run_to_end(
        lambda: _annealings(rbm, data, settings, seed), save_plan(checkpoint, config.checkpoint)
    )
    estimates = {name: log_mean_weight(walk.log_weights, seed) for name, walk in annealings.walks.items()}
    base = log_reference_partition(rbm)
    forward, reverse = estimates["forward"].shifted(base), estimates["reverse"].reversed(base)
    untempered = estimates["untempered"]
    test = rbm_mean_log_prob(rbm, data.test)
    values = both_ends(
        forward,
        reverse,
        test,
        rbm_mean_log_prob(rbm, data.train),
        reference_log_likelihood(rbm, data.test),
    )
    values["log_z_untempered"] = untempered.value
    values["log_likelihood_untempered"] = test - untempered.value
    if min(rbm.n_hidden, rbm.n_visible) <= MAX_UNITS:
        values["log_z_exact"] = exact_rbm_log_partition(rbm)
        values["log_likelihood_exact"] = test - values["log_z_exact"]
    values["ais_seconds"] = annealings.seconds
    return Likelihood(values, annealings.evaluations, annealings.earlier_seconds)


def _annealings(rbm: RBM, data: Dataset, settings: AISSettings, seed: int) -> Annealings:
    """The three annealings of an RBM."""

    def streams(name: str) -> Streams:
        return Streams([seed], f"ais/{name}", rbm.weight.device)

    def from_base(name: str, annealing: type[RBMAnnealing]) -> RBMAnnealing:
        own = streams(name)
        return annealing(rbm, settings.betas, reference_draws(rbm, settings.chains, own), own)

    begin: dict[str, Callable[[], Walk]] = {
        "forward": lambda: from_base("forward", RBMAnnealing),
        "reverse": lambda: _Reverse(rbm, data.train, settings, streams("reverse")),
        "untempered": lambda: from_base("untempered", UntemperedRBMAnnealing),
    }
    steps = len(begin) * (len(settings.betas) - 1) + settings.draw_steps
    return Annealings(begin, steps, BLOCK)


class _Reverse:
    """Draws of the model by block Gibbs from training images, then the reverse annealing from them."""

    def __init__(self, rbm: RBM, images: Tensor, settings: AISSettings, streams: Streams) -> None:
        self.rbm, self.settings, self.streams = rbm, settings, streams
        self.one = rbm.weight.new_ones(())
        self.kernel = RBMGibbs().prepared(rbm, self.one)
        self._stepper = Stepper(self.kernel, rbm, self.one, streams)
        places = streams.uniform((1, settings.chains), (), torch.float64)
        self.state = self._at(images[(places * len(images)).long().cpu()])
        self.drawn = 0
        self.annealing: RBMAnnealing | None = None

    @property
    def steps(self) -> int:
        """Steps of block Gibbs and of the annealing."""
        return self.settings.draw_steps + len(self.settings.betas) - 1

    @property
    def step(self) -> int:
        """Steps of both that are done."""
        return self.drawn + (self.annealing.step if self.annealing is not None else 0)

    @property
    def evaluations(self) -> int:
        """One of the images, one a step of block Gibbs, and those of the annealing."""
        return 1 + self.drawn + (self.annealing.evaluations if self.annealing is not None else 0)

    @property
    def log_weights(self) -> Tensor:
        """Of the annealing, ``(1, chains)``."""
        return self._annealing().log_weights

    @torch.no_grad()
    def advance(self, steps: int) -> None:
        """Walks so many steps further, or to the end of the draws or of the annealing."""
        left = self.settings.draw_steps - self.drawn
        for _ in range(min(steps, left)):
            self.state, _ = self._stepper(self.state)
            self.drawn += 1
        if not left:
            self._annealing().advance(steps)

    def state_dict(self) -> dict[str, Any]:
        """All that the rest of the walk needs."""
        annealing = self.annealing.state_dict() if self.annealing is not None else None
        draws = {"theta": self.state.theta.clone(), "generator": self.streams.state_dict()}
        return {**draws, "drawn": self.drawn, "annealing": annealing}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`."""
        self.state, self.drawn = self._at(saved["theta"]), int(saved["drawn"])
        self.streams.load_state_dict(saved["generator"])
        if saved["annealing"] is not None:
            self._annealing().load_state_dict(saved["annealing"])

    def _annealing(self) -> RBMAnnealing:
        if self.annealing is None:
            betas = self.settings.betas.flip(0)
            self.annealing = RBMAnnealing(self.rbm, betas, self.state.theta, self.streams)
        return self.annealing

    def _at(self, visible: Tensor) -> State:
        return self.kernel.init(self.rbm, visible.to(self.rbm.weight), self.one)
