"""The likelihood that a model gives to data: AIS from both ends, and the released estimator beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from omegaconf import DictConfig
from torch import Tensor

from metrics.ais import Annealing, base_draws, log_base_partition
from metrics.ais_schedule import schedule
from metrics.ais_untempered import UntemperedAnnealing
from metrics.importance_weights import Estimate, log_mean_weight
from metrics.log_partition import MAX_UNITS, base_log_likelihood, exact_log_partition, mean_log_prob
from runner import interrupt
from runner.atomic import set_aside
from runner.checkpoint import UnusableCheckpointError, load, save
from runner.construct import with_key
from runner.devices import device_type, floating_point
from runner.errors import UserError, one_sentence, warn
from runner.node import node
from runner.progress import current
from samplers.hyperparameters import count
from samplers.rbm_gibbs import RBMGibbs
from targets.datasets.dataset import Dataset
from targets.randomness import Streams
from targets.rbm import RBM
from targets.target import Target

BLOCK = 100
"""Temperatures between two looks at progress, signals and the checkpoint."""


@dataclass(frozen=True)
class AISSettings:
    """How log Z is estimated.

    Attributes:
        betas: inverse temperatures from 0 to 1.
        chains: chains of each of the three annealings.
        draw_steps: block-Gibbs steps, from training images, behind the draws that reverse annealing starts
            from.
    """

    betas: Tensor
    chains: int
    draw_steps: int


def ais_settings(config: DictConfig) -> AISSettings:
    """The checked settings of `task.ais`.

    Raises:
        UserError: naming the key that is refused.
    """
    task = node(config, "task")
    given: Any = task.get("ais")
    if not isinstance(given, Mapping):
        raise UserError(f"task.ais must be a group of keys, {given!r} was given.")
    try:
        betas = schedule(given.get("temperatures", 0), str(given.get("schedule")))
        chains = count("chains", given.get("chains"), 2)
        return AISSettings(betas, chains, count("draw_steps", given.get("draw_steps")))
    except ValueError as error:
        raise UserError(with_key(one_sentence(error), dict(given), "task.ais")) from error


def likelihood(
    target: Target, data: Dataset, settings: AISSettings, seed: int, config: DictConfig, checkpoint: Path
) -> dict[str, float]:
    """log Z, its errors, and the mean log-likelihood of the test and training images, in nats an image.

    ``log_likelihood`` uses forward AIS, whose log Z is too low on average and whose likelihood is
    therefore too high; ``log_likelihood_reverse`` uses reverse AIS and errs the other way. They bracket the
    truth as far as the draws that reverse AIS starts from are draws of the model.
    ``log_likelihood_untempered`` uses the released estimator. With at most 20 units in a layer
    ``log_likelihood_exact`` joins them.

    Raises:
        UserError: for a target that is no RBM.
        Interrupted: if the process is told to stop; what was reached is in `checkpoint`.
    """
    if not isinstance(target, RBM):
        raise UserError(f"AIS needs an RBM (targets.rbm.RBM), {type(target).__name__} was given.")
    device = torch.device(device_type(config.device))
    rbm = target.to(device=device, dtype=floating_point(config.dtype)).requires_grad_(False)
    runs = _Annealings(rbm, data, settings, seed, config, checkpoint)
    base = log_base_partition(rbm)
    forward = runs.estimate("forward").shifted(base)
    reverse = runs.estimate("reverse").reversed(base)
    untempered = runs.estimate("untempered")
    test = mean_log_prob(rbm, data.test)
    values = {
        "log_z": forward.value,
        "log_z_se": forward.standard_error,
        "log_z_low": forward.low,
        "log_z_high": forward.high,
        "ais_ess": forward.effective_sample_size,
        "log_z_reverse": reverse.value,
        "log_z_reverse_se": reverse.standard_error,
        "log_z_reverse_low": reverse.low,
        "log_z_reverse_high": reverse.high,
        "ais_ess_reverse": reverse.effective_sample_size,
        "log_z_untempered": untempered.value,
        "log_likelihood": test - forward.value,
        "log_likelihood_reverse": test - reverse.value,
        "log_likelihood_untempered": test - untempered.value,
        "log_likelihood_train": mean_log_prob(rbm, data.train) - forward.value,
        "log_likelihood_base": base_log_likelihood(rbm, data.test),
    }
    if min(rbm.n_hidden, rbm.n_visible) <= MAX_UNITS:
        values["log_z_exact"] = exact_log_partition(rbm)
        values["log_likelihood_exact"] = test - values["log_z_exact"]
    return values | {"ais_seconds": runs.seconds()}


class _Annealings:
    """Three annealings, one after the other, that can be stopped anywhere."""

    def __init__(
        self, rbm: RBM, data: Dataset, settings: AISSettings, seed: int, config: DictConfig, checkpoint: Path
    ) -> None:
        self.rbm, self.data, self.settings, self.seed = rbm, data, settings, seed
        self.checkpoint, self.every, self.saved_at = checkpoint, config.checkpoint.seconds, time.monotonic()
        self.saved: dict[str, Any] = {}
        if checkpoint.exists():
            try:
                self.saved = dict(load(checkpoint)["annealings"])
            except (UnusableCheckpointError, KeyError, TypeError):
                warn(f"the checkpoint {checkpoint} cannot be used; it was moved to {set_aside(checkpoint)}.")

    def estimate(self, name: str) -> Estimate:
        """log of the mean weight of the annealing `name`."""
        streams = Streams([self.seed], f"ais/{name}", self.rbm.weight.device)
        begin: dict[str, Callable[[Streams], Annealing]] = {
            "forward": self._forward,
            "reverse": self._reverse,
            "untempered": self._untempered,
        }
        run = begin[name](streams)
        if name in self.saved:
            try:
                run.load_state_dict(self.saved[name])
            except (KeyError, TypeError, ValueError, RuntimeError):
                warn(f"the checkpoint {self.checkpoint} cannot be used; the annealing {name} starts anew.")
                del self.saved[name]
                return self.estimate(name)
        begun, before = time.monotonic(), float(self.saved.get(f"{name}_seconds", 0.0))
        progress = current()
        progress.begin(f"AIS, {name}", run.steps, run.step)
        try:
            with interrupt.deferred():
                while run.step < run.steps:
                    run.advance(BLOCK)
                    progress.at(run.step)
                    due = time.monotonic() - self.saved_at >= self.every
                    if due or interrupt.wanted() or run.step >= run.steps:
                        self.saved[name] = run.state_dict()
                        self.saved[f"{name}_seconds"] = before + time.monotonic() - begun
                        save(self.checkpoint, {"annealings": self.saved})
                        self.saved_at = time.monotonic()
                    interrupt.obey()
        finally:
            progress.end()
        return log_mean_weight(run.log_weights, self.seed)

    def seconds(self) -> float:
        """What the three annealings took, stretches before an interruption included."""
        return sum(float(value) for name, value in self.saved.items() if name.endswith("_seconds"))

    def _forward(self, streams: Streams) -> Annealing:
        start = base_draws(self.rbm, self.settings.chains, streams)
        return Annealing(self.rbm, self.settings.betas, start, streams)

    def _untempered(self, streams: Streams) -> Annealing:
        start = base_draws(self.rbm, self.settings.chains, streams)
        return UntemperedAnnealing(self.rbm, self.settings.betas, start, streams)

    def _reverse(self, streams: Streams) -> Annealing:
        return Annealing(self.rbm, self.settings.betas.flip(0), self._model_draws(streams), streams)

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
                interrupt.obey()
        return state.theta
