"""Contrastive divergence: the loop that learns a target's parameters, and can stop and go on."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from runner.execution.checkpoint import UnusableCheckpointError
from runner.execution.errors import one_sentence
from runner.models.training.batches import Batches
from runner.models.training.best_model import BestModel
from runner.models.training.divergence_check import TrainingError, check_sound
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
"""How many records a training leaves at most."""

COMPARED = 1000
"""How many images of each part the free-energy gap compares."""


class Training:
    """A model, its optimiser and its chains, somewhere between the first iteration and the last.

    An iteration takes the next batch, lets the chains make `cd_steps` steps, and moves the parameters by
    one step of Adam down the gradient of `learning_loss`. One that was saved and loaded ends with the same
    bits as one that never stopped, however it was cut into calls of `advance`.

    With `validate_every` the average of the parameters is validated on the way (`Validation`), and the best
    of those averages is the model in the end. Learning waits while a validation walks.

    Args:
        target: any target with parameters; learned in place. They ask for gradients only inside the update,
            so that the sampler pays for none.
        kernel: any kernel, tuned or not, not `prepared`.
        data: the training images, ``(images, *event_shape)``, of any dtype.
        settings: see `TrainingSettings`.
        seed: of the order of the images, of the chains and of the tuning.
        validation: held-out images; the free-energy gap mean U(data) - mean U(validation) over the first
            1,000 of each is then recorded, which grows as a model overfits (Hinton 2010, section 6).
        records: how many records the history holds at most.
        grey, white: of a dynamic data set, as `Batches` takes them.
        scoring: how the averages are validated; by default as `ValidationSettings` is.

    Raises:
        ValueError: if target, kernel, data and settings do not fit together.
    """

    def __init__(
        self,
        target: Target,
        kernel: Kernel | Tunable,
        data: Tensor,
        settings: TrainingSettings,
        seed: int,
        validation: Tensor | None = None,
        records: int = RECORDS,
        grey: Tensor | None = None,
        white: int = 255,
        scoring: ValidationSettings | None = None,
    ) -> None:
        _check(target, data, settings)
        self.target, self.settings, self.seed = target.requires_grad_(False), settings, seed
        buffer = None
        if settings.buffer is not None:
            buffer = ReplayBuffer(target, settings.buffer, settings.reinitialisation, seed)
        self.chains = NegativeChains(target, kernel, seed, buffer)
        self.device = self.chains.like.device
        self.data = data.to(self.device)
        self.batches = Batches(self.data, settings.batch, seed, self.chains.like.dtype, grey, white)
        self.validation = None if validation is None or not len(validation) else validation.to(self.device)
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
        """Whether the last iteration is done, and validated."""
        return self.iteration >= self.settings.iterations and not self.validating

    @property
    def scoring(self) -> Validation | None:
        """The validation on the way; None without one."""
        return self._scoring

    @property
    def validating(self) -> bool:
        """Whether learning waits for a validation."""
        return self._scoring is not None and self._scoring.underway

    @property
    def scores(self) -> list[Score]:
        """What the validations found so far, in order."""
        return self._best.scores

    @property
    def best(self) -> Score | None:
        """The highest of the scores; None where nothing was validated."""
        return self._best.best

    def samples(self, n: int) -> Tensor:
        """At most `n` states that the last iteration drew ``(rows, *event_shape)``; uint8 if discrete."""
        samples = self.chains.samples(n)
        return samples.to(torch.uint8) if isinstance(self.target.space, Discrete) else samples

    def advance(self, iterations: int, checkpoint: Path | None = None) -> None:
        """Goes on by so many iterations, or to the end, and checks what came out.

        While a validation walks, `cd_steps` of its temperatures stand for an iteration: they cost less.

        Args:
            iterations: a block of them; what may be saved is what a call returns from.
            checkpoint: where the caller saves, for the message.

        Raises:
            TrainingError: if the loss or a parameter is not finite, if the energies explode, or if a
                validation gives what is impossible; nothing of this block may be saved.
            RunError: if the sampler cannot be tuned to the model.
        """
        before, begun = self.seconds, time.perf_counter()
        losses: list[Tensor] = []
        energies: list[Tensor] = []
        for _ in range(iterations):
            if self.finished:
                break
            if self.validating:
                self._check_sound(losses, energies, checkpoint)
                self._validate(checkpoint)
            else:
                self._tune()
                loss, energy = self._iterate()
                losses.append(loss)
                energies.append(energy)
                self._begin_validation()
            if not self.validating and self.iteration in self._history.due:
                also = self._also()
                self.seconds = before + time.perf_counter() - begun
                self._history.record(self.iteration, self.evaluations, self.seconds, also)
        if self.finished:
            self.optimiser.settle()
            self._best.settle(self.optimiser.parameters)
        self._check_sound(losses, energies, checkpoint)
        self.seconds = before + time.perf_counter() - begun

    def _check_sound(self, losses: list[Tensor], energies: list[Tensor], checkpoint: Path | None) -> None:
        """Checks the iterations since the last check, and forgets them."""
        if losses:
            check_sound(self.target, losses, energies, self.iteration, checkpoint)
            losses.clear()
            energies.clear()

    def _begin_validation(self) -> None:
        every, scoring = self.settings.validate_every, self._scoring
        last = self.iteration == self.settings.iterations
        if scoring is not None and every is not None and (self.iteration % every == 0 or last):
            scoring.begin(self.iteration, self.optimiser.averaged)

    def _validate(self, checkpoint: Path | None) -> None:
        begun, scoring = time.perf_counter(), self._scoring
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
            self._best.see(score, self.optimiser.averaged)
        self.validation_seconds += time.perf_counter() - begun

    def _tune(self) -> None:
        every = self.settings.tune_every
        due = self.iteration == 0 or (every is not None and self.iteration % every == 0)
        if due and self.chains.tunable is not None:
            self.chains.tune(self.iteration)

    def _iterate(self) -> tuple[Tensor, Tensor]:
        """One iteration; its loss, and the mean |U| over its samples and data."""
        settings, data = self.settings, self.batches.at(self.iteration)
        if settings.method == "cd":
            draws, acceptance = self.chains.restart(data, settings.cd_steps)
        elif settings.buffer is not None:
            draws, acceptance = self.chains.replay(settings.chains, settings.cd_steps, self.iteration)
        else:
            draws, acceptance = self.chains.persist(settings.chains, settings.cd_steps)
        self.optimiser.forget_gradients()
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

    def _also(self) -> dict[str, float]:
        """What a record holds beside the means: the last learning rate, the gap, a validation just done."""
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
        """A copy of everything that the rest of the training depends on."""
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
        """Continues where `saved` was.

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
