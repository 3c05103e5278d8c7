"""The task `spectral_gap`: how fast a kernel or a diffusion forgets, exactly and not by running it."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Mapping
from typing import Any

import torch
from omegaconf import DictConfig, open_dict

from metrics.enumerated_chain import enumerated_chain, require_enumerable
from metrics.langevin_gap import check_grid, inverse_gap, langevin, reld
from metrics.langevin_generator import Level
from metrics.mixing_time import mixing_time
from metrics.mreld_choices import mreld_choice
from metrics.reld_theory import barrier, proposition_1
from metrics.spectrum import chain_spectrum
from runner.artefacts import tuned
from runner.build import Problem, build, build_target, label, threads
from runner.construct import with_key
from runner.errors import UserError, one_sentence
from runner.kept_truth import with_model
from runner.node import node
from runner.results import Measured, Record
from runner.store import RunFolder, Store
from samplers.hyperparameters import one_of, positive
from targets.target import Target

KERNEL = "kernel"
DIFFUSIONS = ("ld", "reld", "mreld")
THEORY = {"proposition1": proposition_1, "barrier": barrier}
METHODS = (KERNEL, *DIFFUSIONS, *THEORY)


def spectral_gap(config: DictConfig, seed: int, store: Store, folder: RunFolder) -> Measured:
    """The gap that ``task.method`` asks for; the seed changes nothing but the tuning's file.

    Raises:
        UserError: for a setting that is refused, or a space or grid that does not fit.
    """
    begun = time.monotonic()
    task = node(config, "task")
    method = _method(task)
    exact, notes = True, ()
    try:
        if method == KERNEL:
            problem, _ = tuned(with_model(_problem(config), store), store)
            values, exact, notes = of_kernel(problem, task["memory"]), problem.kernel.exact, problem.notes
        else:
            values = of_diffusion(build_target(config).double(), method, task)
    except ValueError as error:
        raise UserError(with_key(one_sentence(error), task, "task")) from error
    seconds = time.monotonic() - begun
    return Measured(
        target=label(config, "target"),
        sampler=label(config, "sampler") if method == KERNEL else method,
        seed=seed,
        records=[Record(0, 0, seconds, values)],
        steps=0,
        evaluations=0,
        seconds=seconds,
        wall_seconds=seconds,
        exact=exact,
        notes=notes,
    )


def of_kernel(problem: Problem, memory: float) -> dict[str, float]:
    """Gap and mixing times of a tuned kernel on a space that can be listed, in steps of the kernel.

    Of a kernel that is not exact they concern its own stationary law.

    Raises:
        ValueError: if it cannot be listed.
    """
    with torch.no_grad():
        chain = enumerated_chain(problem.kernel, problem.target, memory)
        spectrum = chain_spectrum(chain.matrix, chain.law)
        mixed = mixing_time(chain.matrix, chain.law)
    steps = chain.steps
    return {
        "spectral_gap": spectrum.gap / steps,
        "inverse_gap": spectrum.inverse_gap * steps,
        "second_modulus": spectrum.second_modulus ** (1.0 / steps),
        "relaxation_time": spectrum.relaxation_time * steps,
        "mixing_time": mixed * steps,
        "mixing_time_bound": spectrum.mixing_time_bound(float(chain.law.min())) * steps,
        "reversible": float(spectrum.reversible),
        "states": float(len(chain.law)),
    }


def of_diffusion(target: Target, method: str, task: Mapping[str, Any]) -> dict[str, float]:
    """Inverse gap of a diffusion on `target`, or what theory says of it.

    Raises:
        ValueError: for a setting that is refused.
    """
    if method in THEORY:
        log_kappa = THEORY[method](*_theory(task, target))
        return {"inverse_gap": _exp(log_kappa), "log_inverse_gap": log_kappa}
    levels, rho = _levels(method, task, target)
    found = inverse_gap(
        target,
        levels,
        rho,
        task["grid"],
        task["box"],
        memory=task["memory"],
        negligible=task["negligible"],
    )
    return {
        "spectral_gap": 1.0 / found.kappa,
        "inverse_gap": found.kappa,
        "log_inverse_gap": math.log(found.kappa),
        "inverse_gap_error": found.error,
        "inverse_gap_relative_error": found.error / found.kappa,
        "inverse_gap_fine": found.fine,
        "inverse_gap_coarse": found.coarse,
        "states": float(found.states),
        "rho": rho,
        "tau": levels[-1].tau,
    }


def check_gap(config: DictConfig) -> None:
    """Refuses what `spectral_gap` would refuse, before any matrix is built.

    Raises:
        UserError: naming what is refused.
    """
    task = node(config, "task")
    method = _method(task)
    threads(config)
    try:
        positive("memory", task["memory"])
        if method == KERNEL:
            problem = _problem(config)
            problem.kernel.check(problem.target)
            if not problem.kernel.untuned:
                require_enumerable(problem.kernel, problem.target, task["memory"])
        elif method in THEORY:
            THEORY[method](*_theory(task, build_target(config)))
        else:
            target = build_target(config).double()
            levels, rho = _levels(method, task, target)
            check_grid(target, levels, rho, task["grid"], task["box"], task["memory"], task["negligible"])
    except ValueError as error:
        raise UserError(with_key(one_sentence(error), task, "task")) from error


def _method(task: Mapping[str, Any]) -> str:
    try:
        return one_of("method", task.get("method"), METHODS)
    except ValueError as error:
        raise UserError(f"task.{one_sentence(error)}.") from error


def _levels(method: str, task: Mapping[str, Any], target: Target) -> tuple[tuple[Level, ...], float]:
    """The replicas of a diffusion and the intensity of their swaps."""
    if method == "ld":
        return langevin(), 0.0
    if method == "reld":
        positive("rho", task["rho"])
        return reld(task["tau"], task["reference"], task["scale"]), float(task["rho"])
    positive("length", task["length"])
    choice = mreld_choice(
        task["choice"],
        float(task["length"]),
        target.space.d,
        task["levels"],
        task["scale"],
        task["alpha"],
    )
    return choice.levels, choice.rho


def _theory(task: Mapping[str, Any], target: Target) -> tuple[float, float, int]:
    positive("length", task["length"])
    positive("distance", task["distance"])
    return float(task["length"]), float(task["distance"]), target.space.d


def _problem(config: DictConfig) -> Problem:
    """Target and kernel in float64, as a task that samples would have them."""
    made = copy.deepcopy(config)
    with open_dict(made):
        made.task = {"name": "sample", "steps": 1, "chains": 1, "burn_in": 0, "start": "random", "record": 0}
        made.metric = {}
        made.dtype = "float64"
        made.device = "cpu"
    return build(made)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700.0 else math.inf
