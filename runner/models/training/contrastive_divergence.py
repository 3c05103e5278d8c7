"""Contrastive divergence: the resumable loop that trains a target's parameters."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from runner.execution.checkpoint import UnusableCheckpointError
from runner.execution.errors import one_sentence
from runner.models.training.batches import Batches
from runner.models.training.best_model import BestModel
from runner.models.training.divergence_check import TrainingError, check_divergence
from runner.models.training.history import History
from runner.models.training.loss import learning_loss
from runner.models.training.negative_chains import NegativeChains
from runner.models.training.optimiser import Optimiser
from runner.models.training.replay_buffer import ReplayBuffer
from runner.models.training.training_settings import TrainingSettings
from runner.models.training.validation import Score, Validation, ValidationSettings
from samplers.kernel import Kernel
from samplers.tuning.tunable import Tunable
from targets.spaces import Discrete
from targets.target import Target

RECORDS = 100
"""Maximum number of records of a training."""

COMPARED = 1000
"""Number of images of each part in the free-energy gap."""


@dataclass(frozen=True, eq=False)
class TrainingImages:
    """The data of a training.

    Attributes:
        train: the training images, ``(images, *event_shape)``, of any dtype.
        validation: held-out images, likewise; None or empty if there are none.
        grey, white: grey values of the training images and the maximum grey value, for dynamic binarisation
            (`runner.models.training.batches.Batches`); None for static images.
    """

    train: Tensor
    validation: Tensor | None = None
    grey: Tensor | None = None
    white: int = 255


class Training:
    """A model in training, with its optimiser and its chains.

    An iteration takes the next batch, runs the chains for `cd_steps` steps, and takes one step of Adam along
    the gradient of `learning_loss`. A training that was saved and loaded ends with the same bits as an
    uninterrupted one, for any division into calls of `advance`.

    With `validate_every` the averaged parameters are validated at intervals (`Validation`), and the average
    with the best score becomes the final model. Training pauses during a validation.

    Args:
        target: any target with parameters; learned in place. They ask for gradients only inside the update,
            so that the sampler pays for none.
        kernel: any kernel, tuned or not, not `prepared`.
        data: the images. With validation images the free-energy gap mean U(train) - mean U(validation) over
            the first 1,000 of each is recorded, which increases with overfitting (Hinton 2010, section 6).
        settings: see `TrainingSettings`.
        seed: of the order of the images, of the chains and of the tuning.
        records: maximum number of records of the history.
        scoring: settings of the validations; by default `ValidationSettings()`.

    Raises:
        ValueError: if target, kernel, data and settings do not fit together.
    """

    def __init__(
        self,
        target: Target,
        kernel: Kernel | Tunable,
        data: TrainingImages,
        settings: TrainingSettings,
        seed: int,
        records: int = RECORDS,
        scoring: ValidationSettings | None = None,
    ) -> None:
        _check(target, data.train, settings)
        self.target, self.settings, self.seed = target.requires_grad_(False), settings, seed
        buffer = None
        if settings.buffer is not None:
            buffer = ReplayBuffer(target, settings.buffer, settings.reinitialisation, seed)
        self.chains = NegativeChains(target, kernel, seed, buffer)
        self.device = self.chains.like.device
        self.data, held_out = data.train.to(self.device), data.validation
        dtype = self.chains.like.dtype
        self.batches = Batches(self.data, settings.batch, seed, dtype, data.grey, data.white)
        self.validation = None if held_out is None or not len(held_out) else held_out.to(self.device)
        self.optimiser = Optimiser(target, settings)
        self._history = History(settings.iterations, records, self.device)
        self._scoring = self._validation(scoring or ValidationSettings()) if settings.validate_every else None
        self._best = BestModel()
        self.iteration, self.seconds, self.validation_seconds = 0, 0.0, 0.0

    @property
    def evaluations(self) -> int:
        """The sampler's evaluations per chain so far, all replicas and the tuning's pilots counted."""
        return self.chains.evaluations

    @property
    def history(self) -> list[dict[str, Any]]:
        """The records so far, see `History`."""
        return self._history.records

    @property
    def finished(self) -> bool:
        """Whether the last iteration is done and validated."""
        return self.iteration >= self.settings.iterations and not self.validating

    @property
    def scoring(self) -> Validation | None:
        """The validation; None if there is none."""
        return self._scoring

    @property
    def validating(self) -> bool:
        """Whether a validation is running."""
        return self._scoring is not None and self._scoring.underway

    @property
    def scores(self) -> list[Score]:
        """The scores of the validations so far, in order."""
        return self._best.scores

    @property
    def best(self) -> Score | None:
        """The highest of the scores; None before the first validation."""
        return self._best.best

    def samples(self, n: int) -> Tensor:
        """At most `n` samples of the last iteration, ``(rows, *event_shape)``; uint8 if discrete."""
        samples = self.chains.samples(n)
        return samples.to(torch.uint8) if isinstance(self.target.space, Discrete) else samples

    def advance(self, iterations: int, checkpoint: Path | None = None) -> None:
        """Runs at most `iterations` more iterations, and checks the result for divergence.

        During a validation, `cd_steps` of its temperatures count as one iteration.

        Args:
            iterations: size of the block; the state may be saved when the call returns.
            checkpoint: path of the caller's checkpoint, for the message.

        Raises:
            TrainingError: if the loss or a parameter is not finite, if the energies explode, or if a
                validation gives an impossible value; the state must then not be saved.
            RunError: if the sampler cannot be tuned to the model.
        """
        before, started = self.seconds, time.perf_counter()
        losses: list[Tensor] = []
        energies: list[Tensor] = []
        for _ in range(iterations):
            if self.finished:
                break
            if self.validating:
                self._check_divergence(losses, energies, checkpoint)
                self._validate(checkpoint)
            else:
                self._tune()
                loss, energy = self._iterate()
                losses.append(loss)
                energies.append(energy)
                self._begin_validation()
            if not self.validating and self.iteration in self._history.due:
                also = self._extra_values()
                self.seconds = before + time.perf_counter() - started
                self._history.record(self.iteration, self.evaluations, self.seconds, also)
        if self.finished:
            self.optimiser.load_averaged()
            self._best.load_best(self.optimiser.parameters)
        self._check_divergence(losses, energies, checkpoint)
        self.seconds = before + time.perf_counter() - started

    def _check_divergence(
        self, losses: list[Tensor], energies: list[Tensor], checkpoint: Path | None
    ) -> None:
        """Checks the iterations since the last check, and clears the lists."""
        if losses:
            check_divergence(self.target, losses, energies, self.iteration, checkpoint)
            losses.clear()
            energies.clear()

    def _begin_validation(self) -> None:
        every, scoring = self.settings.validate_every, self._scoring
        last = self.iteration == self.settings.iterations
        if scoring is not None and every is not None and (self.iteration % every == 0 or last):
            scoring.begin(self.iteration, self.optimiser.averaged)

    def _validate(self, checkpoint: Path | None) -> None:
        started, scoring = time.perf_counter(), self._scoring
        assert scoring is not None
        try:
            score = scoring.advance(self.settings.cd_steps)
        except ValueError as error:
            what = f"the validation has failed: {one_sentence(error)}"
            raise TrainingError(self.iteration, None, what, checkpoint) from error
        if score is not None:
            if score.log_likelihood > 0:
                what = (
                    f"the validation gives a mean log-likelihood of {score.log_likelihood:g} nats, above 0, "
                    "which no model of discrete data has"
                )
                raise TrainingError(self.iteration, None, what, checkpoint)
            self._best.update(score, self.optimiser.averaged)
        self.validation_seconds += time.perf_counter() - started

    def _tune(self) -> None:
        every = self.settings.tune_every
        due = self.iteration == 0 or (every is not None and self.iteration % every == 0)
        if due and self.chains.tunable is not None:
            self.chains.tune(self.iteration)

    def _iterate(self) -> tuple[Tensor, Tensor]:
        """One iteration: its loss, and the mean |U| over its samples and data."""
        settings, data = self.settings, self.batches.at(self.iteration)
        if settings.method == "cd":
            draws, acceptance = self.chains.restart(data, settings.cd_steps)
        elif settings.buffer is not None:
            draws, acceptance = self.chains.replay(settings.chains, settings.cd_steps, self.iteration)
        else:
            draws, acceptance = self.chains.persist(settings.chains, settings.cd_steps)
        self.optimiser.zero_grad()
        self.target.requires_grad_(True)
        with torch.enable_grad():
            loss = learning_loss(self.target, draws.flatten(0, 1), data, settings)
            loss.total.backward()  # type: ignore[no-untyped-call]
        self.target.requires_grad_(False)
        self.optimiser.step(self.iteration)
        seen = {"loss": loss.difference.detach(), "acceptance": acceptance}
        if self.chains.swap_rate is not None:
            seen["swap_rate"] = self.chains.swap_rate
        self._history.add(seen)
        self.iteration += 1
        return loss.total.detach(), loss.log_prob.detach().abs().mean()

    def _extra_values(self) -> dict[str, float]:
        """The values of a record besides the means: learning rate, free-energy gap, last validation."""
        values = {"learning_rate": self.optimiser.rate(self.iteration - 1)}
        if self.validation is not None:
            values["free_energy_gap"] = self._free_energy_gap(self.validation)
        last = self.history[-1]["iteration"] if self.history else 0
        if self.scores and self.scores[-1].iteration > last:
            values["validation_log_likelihood"] = self.scores[-1].log_likelihood
            values["validation_log_likelihood_se"] = self.scores[-1].standard_error
        return values

    def _validation(self, scoring: ValidationSettings) -> Validation:
        if self.validation is None:
            raise ValueError(
                f"validate_every needs validation images, of which there are none, "
                f"{self.settings.validate_every!r} was given"
            )
        return Validation(self.target, self.validation, scoring, self.seed)

    @torch.no_grad()
    def _free_energy_gap(self, held_out: Tensor) -> float:
        parts = [part[:COMPARED].to(self.chains.like.dtype) for part in (self.data, held_out)]
        seen, unseen = (self.target.log_prob(part).mean() for part in parts)
        return float(seen - unseen)

    def state_dict(self) -> dict[str, Any]:
        """A copy of everything that the remaining iterations depend on."""
        return {
            "recipe": self._recipe(),
            "target": copy.deepcopy(self.target.state_dict()),
            "optimiser": copy.deepcopy(self.optimiser.state_dict()),
            "chains": self.chains.state_dict(),
            "history": self._history.state_dict(),
            "validation": None if self._scoring is None else self._scoring.state_dict(),
            "best": self._best.state_dict(),
            "iteration": self.iteration,
            "seconds": self.seconds,
            "validation_seconds": self.validation_seconds,
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`.

        Raises:
            UnusableCheckpointError: if it belongs to another training.
        """
        try:
            if saved["recipe"] != self._recipe():
                raise UnusableCheckpointError("belongs to another training")
            self.target.load_state_dict(saved["target"])
            self.optimiser.load_state_dict(saved["optimiser"])
            settings = self.settings
            chains = settings.batch if settings.method == "cd" else settings.chains
            self.chains.load_state_dict(saved["chains"], chains)
            self._history.load_state_dict(saved["history"])
            if self._scoring is not None:
                self._scoring.load_state_dict(saved["validation"], self.optimiser.averaged)
            self._best.load_state_dict(saved["best"], self.chains.like)
            self.iteration, self.seconds = int(saved["iteration"]), float(saved["seconds"])
            self.validation_seconds = float(saved["validation_seconds"])
        except UnusableCheckpointError:
            raise
        except Exception as error:
            raise UnusableCheckpointError("does not fit this training") from error

    def _recipe(self) -> dict[str, Any]:
        return {**asdict(self.settings), "seed": self.seed, "data": list(self.data.shape)}


def _check(target: Target, data: Tensor, settings: TrainingSettings) -> None:
    if not list(target.parameters()):
        raise ValueError(f"target must have parameters to learn, {type(target).__name__} has none")
    event = target.space.event_shape
    if data.shape[1:] != event:
        raise ValueError(
            f"data must have the shape (images, {', '.join(map(str, event))}), {tuple(data.shape)} was given"
        )
    if settings.batch > len(data):
        raise ValueError(
            f"batch must be at most the number of training images, {len(data)}, {settings.batch} was given"
        )
