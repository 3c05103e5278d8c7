"""Reference samples of an RBM: two independent sets of long block-Gibbs chains, and their agreement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from metrics.metric import restore
from metrics.mixing.diagnostics import potential_scale_reduction
from metrics.two_sample.mmd_statistics import null_sd, permutation_p_value, u_statistic
from metrics.two_sample.reference_sample import ReferenceSample
from samplers import RBMGibbs, State
from samplers.stepper import Stepper
from targets.checks import whole_number
from targets.models.rbm import RBM
from targets.randomness import derive_seed

PAPER_CHAINS, PAPER_REFERENCES = 100, 500
ENERGY_ROWS, PERMUTATIONS = 100, 999
MOST_TESTED = 1000
"""Maximum number of draws of each set in the permutation test, whose kernel matrix is stored."""


@dataclass(frozen=True, eq=False)
class ReferencePair:
    """Two independent reference samples of an RBM.

    Attributes:
        reference: from chains started at independent pixels with the data mean, ``(chains * keeps, d)``:
            first the draws of the last step, then those of earlier steps.
        held_out: the same from chains started at training images.
        report: the agreement of the two sets (`ReferenceChains.result`).
    """

    reference: Tensor
    held_out: Tensor
    report: dict[str, float]


class ReferenceChains:
    """Block Gibbs at beta = 1 on two sets of chains; it can be saved and continued between calls.

    The two sets have different starts, so that their agreement is evidence of convergence. Draws are stored
    at the last step and at ``keeps - 1`` equally spaced earlier steps of the second half.

    Args:
        rbm: the model, on the device on which the chains run.
        data: training images, zeros and ones, ``(images, n_visible)``.
        steps: steps of each chain; 10,000 in the papers' code.
        chains: chains of each set.
        keeps: number of steps whose draws are stored.
        seed: of all random numbers.

    Attributes:
        step: number of steps taken.

    Raises:
        ValueError: if a number is out of range or `data` has not `n_visible` pixels.
    """

    def __init__(
        self, rbm: RBM, data: Tensor, steps: int = 10_000, chains: int = 500, keeps: int = 10, seed: int = 0
    ) -> None:
        self.steps, self.chains = whole_number("steps", steps, 2), whole_number("chains", chains, 2)
        self.keeps, self.seed = whole_number("keeps", keeps), seed
        half = self.steps // 2
        if keeps > half:
            raise ValueError(f"keeps must be at most half the steps ({half}), {keeps} was given")
        if data.dim() != 2 or data.shape[1] != rbm.n_visible or not len(data):
            raise ValueError(
                f"data must hold images of {rbm.n_visible} pixels, the shape {tuple(data.shape)} was given"
            )
        self.rbm, self.step = rbm, 0
        like = rbm.weight
        self._generator = torch.Generator(like.device).manual_seed(derive_seed(seed, "ground truth"))
        images = torch.Generator().manual_seed(derive_seed(seed, "ground truth/images"))
        picked = torch.randint(len(data), (chains,), generator=images)
        noise = rbm.initial((chains,), self._generator)
        self._beta = like.new_ones(())
        self._kernel = RBMGibbs().prepared(rbm, self._beta)
        self._stepper = Stepper(self._kernel, rbm, self._beta, self._generator)
        self._state = self._at(torch.stack([noise, data[picked.to(data.device)].to(noise)]))
        self._keep_at = [self.steps - place * half // keeps for place in range(keeps)]
        self._energy_every = max(1, half // ENERGY_ROWS)
        self._kept = torch.zeros((keeps, *self.theta.shape), dtype=torch.uint8, device=like.device)
        rows = half // self._energy_every
        self._energies = torch.zeros((rows, 2, chains), dtype=like.dtype, device=like.device)

    @property
    def theta(self) -> Tensor:
        """Current states of the two sets, ``(2, chains, d)``."""
        return self._state.theta

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        return self.step >= self.steps

    @torch.no_grad()
    def advance(self, steps: int) -> None:
        """Takes `steps` more steps, or as many as are left."""
        for _ in range(min(steps, self.steps - self.step)):
            self.step += 1
            self._state, _ = self._stepper(self._state)
            if self.step in self._keep_at:
                self._kept[self._keep_at.index(self.step)] = self.theta.to(torch.uint8)
            row, off = divmod(self.steps - self.step, self._energy_every)
            if not off and row < len(self._energies):
                self._energies[len(self._energies) - 1 - row] = self._state.log_prob

    @torch.no_grad()
    def result(self) -> ReferencePair:
        """The two sets and a report on their agreement.

        The report contains, for the draws of the last step unless stated otherwise:
            log_mmd, log_mmd_sd: mean and standard deviation of ln MMD^2 (V-statistic) between groups of
                100 of all held-out draws and the first 500 reference draws: the floor of `log_mmd`.
            log_mmd_formula: ln of (1 - kbar) (1/100 + 1/500), the floor without the bias of the logarithm;
                kbar is the mean kernel between draws of different chains.
            mmd_u, mmd_u_sd: U-statistic between at most 1,000 draws of each set, and its standard
                deviation if both have the same distribution.
            p_value: of the permutation test that both have the same distribution.
            rhat: R-hat of U over the chains of both sets, in the second half.
            log_prob_reference, log_prob_held_out: mean U of each set, over all stored draws.

        Raises:
            ValueError: before the last step.
        """
        if not self.done:
            raise ValueError(f"the reference sample needs {self.steps} steps, {self.step} were taken")
        reference, held_out = self._kept.transpose(0, 1).flatten(1, 2).to(self.rbm.weight.dtype)
        report = {
            "steps": float(self.steps),
            "chains": float(self.chains),
            "keeps": float(self.keeps),
            **_agreement(reference, held_out, self.chains, self.seed),
            "rhat": potential_scale_reduction(_series(self._energies)),
            "log_prob_reference": float(self.rbm.log_prob(reference).double().mean()),
            "log_prob_held_out": float(self.rbm.log_prob(held_out).double().mean()),
        }
        return ReferencePair(reference, held_out, report)

    def state_dict(self) -> dict[str, Any]:
        """Everything that the remaining steps depend on, in plain tensors and numbers."""
        return {
            "step": self.step,
            "theta": self.theta.clone(),
            "kept": self._kept.clone(),
            "energies": self._energies.clone(),
            "generator": self._generator.get_state(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a `state_dict`, with the same bits as without the interruption.

        Raises:
            ValueError: if it was saved with other numbers of chains, keeps or steps.
        """
        theta = self.theta.clone()
        for name, into in {"theta": theta, "kept": self._kept, "energies": self._energies}.items():
            restore(name, into, state[name])
        self._state = self._at(theta)
        self._generator.set_state(state["generator"].cpu())
        self.step = int(state["step"])

    def _at(self, theta: Tensor) -> State:
        return self._kernel.init(self.rbm, theta, self._beta)


def _agreement(reference: Tensor, held_out: Tensor, chains: int, seed: int) -> dict[str, float]:
    """The report's distances between the two sets, whose first `chains` rows are of the last step."""
    group = min(PAPER_CHAINS, chains)
    sample = ReferenceSample(reference, PAPER_REFERENCES, chains)
    floor = sample.floor(held_out, group)
    size = min(chains, MOST_TESTED)
    last = torch.cat([reference[:size], held_out[:size]])
    gram = sample.kernel.matrix(last, last)
    xx, yy, xy = gram[:size, :size].sum(), gram[size:, size:].sum(), gram[:size, size:].sum()
    generator = torch.Generator().manual_seed(derive_seed(seed, "ground truth/permutations"))
    return {
        "log_mmd": float(floor.mean()),
        "log_mmd_sd": float(floor.std()) if len(floor) > 1 else math.nan,
        "log_mmd_groups": float(len(floor)),
        "log_mmd_formula": math.log((1.0 - float(sample.kbar)) * (1.0 / group + 1.0 / len(sample.first))),
        "mmd_u": float(u_statistic(xx, yy, xy, size, size)),
        "mmd_u_sd": float(null_sd(sample.second_moment, size, size)),
        "p_value": permutation_p_value(gram, size, PERMUTATIONS, generator),
    }


def _series(energies: Tensor) -> np.ndarray[Any, np.dtype[Any]]:
    """``(rows, 2, chains)`` as ``(2 * chains, rows)``."""
    return np.ascontiguousarray(energies.flatten(1).T.double().cpu().numpy())
