"""Contrastive divergence: the resumable loop that trains a target's parameters."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from runner.execution.live import Point, say_recorded
from runner.files.checkpoint import UnusableCheckpointError, of_the_moment
from runner.models.training.batches import Batches, TrainingImages
from runner.models.training.divergence_check import check_divergence
from runner.models.training.history import TrainingHistory
from runner.models.training.loss import free_energy_gap, learning_loss
from runner.models.training.model_selection import ModelSelection
from runner.models.training.negative_chains import NegativeChains
from runner.models.training.optimiser import Optimiser
from runner.models.training.replay_buffer import ReplayBuffer
from runner.models.training.validation import ValidationSettings
from runner.models.training_settings import TrainingSettings
from runner.store.arrays.array_files import MOST
from runner.store.arrays.pictures import Pictures, chain_pictures
from samplers import Kernel, Tunable
from targets import Binary, Discrete, Target


class Training:
    """A model in training, with its optimiser and its chains.

    An iteration takes the next batch, runs the chains for `cd_steps` steps, and takes one step of Adam along
    the gradient of `learning_loss`. A training that was saved and loaded ends with the same bits as an
    uninterrupted one, for any division into calls of `advance`.

    With `validate_every` the training pauses at intervals to validate the averaged parameters, and the
    average with the best score becomes the final model (`ModelSelection`).

    Args:
        target: any target with parameters; learned in place. They ask for gradients only inside the update,
            so that the sampler pays for none.
        kernel: any kernel, tuned or not, not `prepared`.
        data: the images. With validation images the free-energy gap is recorded.
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
        records: int = 100,
        scoring: ValidationSettings | None = None,
    ) -> None:
        if not list(target.parameters()):
            raise ValueError(f"target must have parameters to learn, {type(target).__name__} has none")
        data.check(target.space.event_shape, settings.batch)
        self.target, self.settings, self.seed = target.requires_grad_(False), settings, seed
        buffer = None
        if settings.buffer is not None:
            buffer = ReplayBuffer(target, settings.buffer, settings.reinitialisation, seed)
        effort, compiled = settings.tuning_effort, settings.compiled
        self.chains = NegativeChains(target, kernel, seed, buffer, effort, compiled)
        like, held_out = self.chains.like, data.validation
        self.data, self.shape = data.train.to(like.device), data.shape
        self.held_out = None if held_out is None or not len(held_out) else held_out.to(like.device)
        self.batches = Batches(self.data, settings.batch, seed, like.dtype, data.grey, data.white)
        self.optimiser = Optimiser(target, settings)
        self.history = TrainingHistory(settings.iterations, records, like.device)
        scoring = scoring or ValidationSettings()
        self.selection = ModelSelection(target, self.held_out, settings, scoring, seed)
        self.iteration, self.seconds = 0, 0.0

    @property
    def finished(self) -> bool:
        """Whether the last iteration is done and validated."""
        return self.iteration >= self.settings.iterations and not self.selection.underway

    def samples(self, n: int) -> Tensor:
        """At most `n` samples of the last iteration, ``(rows, *event_shape)``; uint8 if discrete."""
        samples = self.chains.samples(n)
        return samples.to(torch.uint8) if isinstance(self.target.space, Discrete) else samples

    def advance(self, iterations: int, checkpoint: Path | None = None, *, pausing: bool = False) -> None:
        """Runs at most `iterations` more iterations, and checks the result for divergence.

        During a validation, `cd_steps` of its temperatures count as one iteration.

        Args:
            checkpoint: path of the caller's checkpoint, for the message.
            pausing: whether it also ends after each block of a pilot, which goes on in the next call.

        Raises:
            TrainingError: if the training diverges or a validation fails; the state must then not be saved.
            RunError: if the sampler cannot be tuned to the model.
        """
        before, started = self.seconds, time.perf_counter()
        unchecked: list[tuple[Tensor, Tensor]] = []
        for _ in range(iterations):
            if self.finished:
                break
            if self.selection.underway:
                check_divergence(self.target, unchecked, self.iteration, checkpoint)
                unchecked = []
                self.selection.advance(self.optimiser.averaged, checkpoint)
            else:
                while not (tuned := self._tuned()) and not pausing:
                    continue
                if not tuned:
                    break
                unchecked.append(self._iterate())
                self.selection.begin_if_due(self.iteration, self.optimiser.averaged)
            self._load_result()  # before the last record, which is one of the model that results
            if not self.selection.underway and self.iteration in self.history.due:
                also = self._current_values()
                self.seconds = before + time.perf_counter() - started
                self.history.record(self.iteration, self.chains.evaluations, self.seconds, also)
                said = time.perf_counter()
                self._say(self.history.records[-1], self._pictures)
                started += time.perf_counter() - said
        check_divergence(self.target, unchecked, self.iteration, checkpoint)
        self.seconds = before + time.perf_counter() - started

    def _load_result(self) -> None:
        """Takes the averaged or the best parameters for those of the model, after the last iteration."""
        if self.finished:
            self.optimiser.load_averaged()
            self.selection.load_best(self.optimiser.parameters)

    def _say(self, record: Mapping[str, Any], pictures: Callable[[int], Pictures] | None = None) -> None:
        """Says what was recorded to who listens, unless it is the last record, which the result holds."""
        if (iteration := record["iteration"]) < self.settings.iterations:
            costs = record["evaluations"], record["seconds"]
            say_recorded(Point(iteration, *costs, [record["values"]], pictures))

    def _pictures(self, place: int) -> Pictures:
        """The states of the chains as they stand; nothing where they are no binary images."""
        if self.shape is None or not isinstance(self.target.space, Binary):
            return {}
        return chain_pictures(self.samples(MOST), self.shape)

    def _tuned(self) -> bool:
        """Whether the sampler is tuned where that is due; if not, its pilot has come nearer to its end."""
        every = self.settings.tune_every
        due = self.iteration == 0 or (every is not None and self.iteration % every == 0)
        return not due or self.chains.tunable is None or self.chains.tune(self.iteration)

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
        by_rung = self.chains.by_rung
        if "swap_rate" in by_rung:
            seen["swap_rate"] = by_rung["swap_rate"].mean()
        self.history.add(seen, by_rung)
        self.iteration += 1
        return loss.total.detach(), loss.log_prob.detach().abs().mean()

    def _current_values(self) -> dict[str, float]:
        """The values of a record besides the means: learning rate, free-energy gap, last validation."""
        values = {"learning_rate": self.optimiser.rate(self.iteration - 1)}
        if self.held_out is not None:
            values["free_energy_gap"] = free_energy_gap(self.target, self.data, self.held_out)
        return values | self.selection.values_since(self.history.last_iteration)

    def state_dict(self) -> dict[str, Any]:
        """A copy of everything that the remaining iterations depend on."""
        return {
            "recipe": self._recipe(),
            "target": copy.deepcopy(self.target.state_dict()),
            "optimiser": copy.deepcopy(self.optimiser.state_dict()),
            "chains": self.chains.state_dict(),
            "history": self.history.state_dict(),
            **self.selection.state_dict(),
            "iteration": self.iteration,
            "seconds": self.seconds,
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
            chains = self.settings.batch if self.settings.method == "cd" else self.settings.chains
            self.chains.load_state_dict(saved["chains"], chains)
            self.history.load_state_dict(saved["history"])
            self.selection.load_state_dict(saved, self.optimiser.averaged, self.chains.like)
            self.iteration, self.seconds = int(saved["iteration"]), float(saved["seconds"])
            for record in self.history.records:
                self._say(record)
        except UnusableCheckpointError:
            raise
        except Exception as error:
            if of_the_moment(error):
                raise
            raise UnusableCheckpointError("does not fit this training") from error

    def _recipe(self) -> dict[str, Any]:
        settings = asdict(self.settings)
        if self.chains.tunable is None:
            del settings["tuning_effort"]
        if not settings["compiled"]:  # as in checkpoints from before
            del settings["compiled"]
        return {**settings, "seed": self.seed, "data": list(self.data.shape)}
