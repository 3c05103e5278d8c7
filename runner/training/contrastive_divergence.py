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

from runner.checkpoint import UnusableCheckpointError
from runner.training.batches import Batches
from runner.training.history import History
from runner.training.negative_chains import NegativeChains
from runner.training.optimiser import Optimiser
from runner.training.settings import TrainingSettings
from runner.training.soundness import check_sound
from samplers.kernel import Kernel
from targets.target import Target

RECORDS = 100
"""How many records a training leaves at most."""

COMPARED = 1000
"""How many images of each part the free-energy gap compares."""


def contrastive_loss(target: Target, samples: Tensor, data: Tensor) -> Tensor:
    """mean U(samples) - mean U(data), from one evaluation of both; minimised, it raises the likelihood.

    With exact samples its gradient in the parameters is that of the mean negative log-likelihood.

    Args:
        samples: ``(n, *event_shape)``, held fixed.
        data: ``(m, *event_shape)``.
    """
    log_prob = target.log_prob(torch.cat([samples, data]))
    return log_prob[: len(samples)].mean() - log_prob[len(samples) :].mean()


class Training:
    """A model, its optimiser and its chains, somewhere between the first iteration and the last.

    An iteration takes the next batch, lets the chains make `cd_steps` steps, and moves the parameters by
    one step of Adam down the gradient of `contrastive_loss`. One that was saved and loaded ends with the
    same bits as one that never stopped, however the iterations were cut into calls of `advance`.

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

    Raises:
        ValueError: if target, kernel, data and settings do not fit together.
    """

    def __init__(
        self,
        target: Target,
        kernel: Kernel,
        data: Tensor,
        settings: TrainingSettings,
        seed: int,
        validation: Tensor | None = None,
        records: int = RECORDS,
    ) -> None:
        _check(target, data, settings)
        self.target, self.settings, self.seed = target.requires_grad_(False), settings, seed
        self.chains = NegativeChains(target, kernel, seed)
        self.device = self.chains.like.device
        self.data = data.to(self.device)
        self.batches = Batches(self.data, settings.batch, seed, self.chains.like.dtype)
        self.validation = None if validation is None or not len(validation) else validation.to(self.device)
        self.optimiser = Optimiser(target, settings)
        self._history = History(settings.iterations, records, self.device)
        self.iteration, self.seconds = 0, 0.0

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
        """Whether the last iteration is done."""
        return self.iteration >= self.settings.iterations

    def advance(self, iterations: int, checkpoint: Path | None = None) -> None:
        """Goes on by so many iterations, or to the last one, and checks what came out.

        Args:
            iterations: a block of them; what may be saved is what a call returns from.
            checkpoint: where the caller saves, for the message.

        Raises:
            TrainingError: if the loss or a parameter is not finite; nothing of this block may be saved.
            RunError: if the sampler cannot be tuned to the model.
        """
        before, begun = self.seconds, time.perf_counter()
        losses: list[Tensor] = []
        for _ in range(min(iterations, self.settings.iterations - self.iteration)):
            self._tune()
            losses.append(self._iterate())
            if self.iteration in self._history.due:
                gap = self._free_energy_gap()
                self.seconds = before + time.perf_counter() - begun
                self._history.record(self.iteration, self.evaluations, self.seconds, gap)
        if self.finished:
            self.optimiser.settle()
        if losses:
            check_sound(self.target, losses, self.iteration, checkpoint)
        self.seconds = before + time.perf_counter() - begun

    def _tune(self) -> None:
        every = self.settings.tune_every
        due = self.iteration == 0 or (every is not None and self.iteration % every == 0)
        if due and self.chains.given.untuned:
            self.chains.tune(self.iteration)

    def _iterate(self) -> Tensor:
        settings, data = self.settings, self.batches.at(self.iteration)
        if settings.method == "cd":
            draws, acceptance = self.chains.restart(data, settings.cd_steps)
        else:
            draws, acceptance = self.chains.persist(settings.chains, settings.cd_steps)
        self.optimiser.forget_gradients()
        self.target.requires_grad_(True)
        with torch.enable_grad():
            loss = contrastive_loss(self.target, draws.flatten(0, 1), data)
            loss.backward()  # type: ignore[no-untyped-call]
        self.target.requires_grad_(False)
        self.optimiser.step(self.iteration)
        loss = loss.detach()
        self._history.add(loss, acceptance)
        self.iteration += 1
        return loss

    @torch.no_grad()
    def _free_energy_gap(self) -> float | None:
        if self.validation is None:
            return None
        parts = [part[:COMPARED].to(self.chains.like.dtype) for part in (self.data, self.validation)]
        seen, held_out = (self.target.log_prob(part).mean() for part in parts)
        return float(seen - held_out)

    def state_dict(self) -> dict[str, Any]:
        """A copy of everything that the rest of the training depends on."""
        return {
            "recipe": self._recipe(),
            "target": copy.deepcopy(self.target.state_dict()),
            "optimiser": copy.deepcopy(self.optimiser.state_dict()),
            "chains": self.chains.state_dict(),
            "history": self._history.state_dict(),
            "iteration": self.iteration,
            "seconds": self.seconds,
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
            self.iteration, self.seconds = int(saved["iteration"]), float(saved["seconds"])
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
