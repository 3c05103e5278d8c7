"""The trained target of a problem and its reference sample, both made once and shared by all runs."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from omegaconf import DictConfig

from metrics.statistics.bits import packed, unpacked
from metrics.two_sample.mode_search import find_mode
from metrics.two_sample.reference_chains import ReferenceChains
from runner.config.construct import errors_at
from runner.config.key_group import group, node
from runner.execution.errors import UserError, one_sentence
from runner.files.atomic_files import write_json
from runner.files.compute_once import compute_once, discard_damaged
from runner.files.resumable import completed, save_plan, sources_of
from runner.files.tensor_files import UnreadableTensorsError, read_tensors, write_tensors
from runner.integrity.source import mixture
from runner.models.learned_target import model_of
from runner.models.model_files import model_digest
from runner.models.recipe import is_learned
from runner.models.trained_model import TrainedModel, data_learned, load_named
from runner.problem.build import Problem
from runner.store.run_store import Store
from runner.store.short_hash import SCHEMA, short_hash
from targets.models.rbm import RBM

PARTS = ("reference", "held_out", "modes")
BLOCK_STEPS = 20
DIFFERENT, UNMIXED = 0.01, 1.1
SETS_DIFFER = (
    "on at least one model the two reference samples, whose chains start in different places, differ "
    f"(permutation p < {DIFFERENT}): its floor and its ranking are void"
)
CHAINS_NOT_MIXED = (
    "on at least one model the single reference chains have not mixed "
    f"(R-hat of U above {UNMIXED}): the reference sample is an ensemble of many short chains from two starts"
)
SEED = 0
"""Of the reference sample: it belongs to the model, whatever the seeds of the runs that use it."""


def with_trained_target(problem: Problem, store: Store) -> Problem:
    """`problem` on its trained target, with a reference sample; unchanged where the target is not learned.

    The first process that needs a model or its reference sample makes it; others wait for it. Only an RBM
    has a reference sample, which its block-Gibbs chains make.

    Raises:
        UserError: if the data set or the model cannot be had.
        Interrupted: if the process is told to stop; what was reached is saved.
    """
    if not is_learned(problem.config):
        return problem
    model = model_of(problem.config, store)
    target = model.target.to(problem.target.like()).requires_grad_(False)
    problem = replace(
        problem,
        target=target,
        notes=tuple(model.notes),
        model=str(model.path),
        target_name=f"{problem.config.target.get('name')}/{model.metadata.get('dataset')}",
        image_shape=model.image_shape,
    )
    if not target.block_gibbs:
        return problem
    return _with_reference_sample(problem, model, cast(RBM, target), store)


def _with_reference_sample(problem: Problem, model: TrainedModel, target: RBM, store: Store) -> Problem:
    """`problem`, whose `target` now has its reference sample, with footnotes on its quality."""
    draws_by_name, report = _reference_sample(problem.config, model, target, store)
    for name, draws in draws_by_name.items():
        setattr(target, name, stored_states(draws, target.n_visible).to(target.weight))
    target.reference_chains = int(report["chains"])
    notes = [*problem.notes]
    notes += [SETS_DIFFER] if report["p_value"] < DIFFERENT else []
    notes += [CHAINS_NOT_MIXED] if report["rhat"] > UNMIXED else []
    notes += mixture(report.get("sources") or [])
    beside = {"truth_rhat": report["rhat"], "truth_p_value": report["p_value"]}
    return replace(problem, notes=tuple(notes), beside=beside)


def stored_states(draws: torch.Tensor, units: int) -> torch.Tensor:
    """The states ``(*batch, units)`` in a file: a bit for each unit, a byte in those of earlier versions."""
    return draws if draws.shape[-1] == units else unpacked(draws, units)


def check_reference_sample(problem: Problem) -> None:
    """Tries the settings of the reference sample on a model that is not trained yet.

    The images of a model in a file are looked at, since nothing else has said that they are there.

    Raises:
        UserError: naming what is refused.
    """
    if _tried(problem) is not None and problem.config.target.get("model") is not None:
        data_learned(load_named(problem.config), problem.config)


def check_held_out(problem: Problem) -> None:
    """Refuses more chains than the second reference sample has draws: the floor of log-MMD is one of as many.

    Raises:
        UserError: naming both numbers.
    """
    made, chains = _tried(problem), problem.settings.chains
    if made is not None and made.chains * made.keeps < chains:
        raise UserError(
            f"metric: log_mmd needs at least as many reference draws as chains, task.chains={chains} and "
            f"target.ground_truth.chains={made.chains} times keeps={made.keeps} were given."
        )


def _tried(problem: Problem) -> ReferenceChains | None:
    """The chains of the reference sample on the model as it is; None where there is none."""
    if not is_learned(problem.config) or not problem.target.block_gibbs:
        return None
    target = cast(RBM, problem.target)
    images = target.like().new_zeros((1, target.n_visible))
    return _chains(target, images, node(problem.config, "target").get("ground_truth"))


def _reference_sample(
    config: DictConfig, model: TrainedModel, target: RBM, store: Store
) -> tuple[Mapping[str, torch.Tensor], Mapping[str, Any]]:
    """Two sets of draws and the likeliest modes, from the model's folder or made now; and their report."""
    settings = node(config, "target")["ground_truth"]
    weights = model_digest(target)
    content = {"schema": SCHEMA, "model": weights, "settings": settings, "seed": SEED}
    if not model.trained_here:
        # Its weights do not name the images that the chains start at.
        content["data"] = data_learned(model, config).fingerprint()
    folder = store.model(model.path.parent.name if model.trained_here else weights)
    computed = {"device": target.weight.device.type, "dtype": str(target.weight.dtype)}
    path = folder / f"ground_truth-{short_hash({**content, **computed})}.safetensors"
    return compute_once(
        path.with_suffix(".lock"), partial(_read, path), lambda: _make(config, model, target, settings, path)
    )


class _ChainBlocks:
    """The chains of a reference sample as resumable work."""

    def __init__(self, chains: ReferenceChains, title: str) -> None:
        self.chains, self.title, self.total = chains, title, chains.steps
        self.load_state_dict, self.state_dict = chains.load_state_dict, chains.state_dict

    @property
    def position(self) -> int:
        return self.chains.step

    @property
    def done(self) -> bool:
        return self.chains.done

    def advance(self) -> None:
        self.chains.advance(BLOCK_STEPS)


def _chains(target: RBM, images: torch.Tensor, settings: Any) -> ReferenceChains:
    key = "target.ground_truth"
    given = group(settings, key)
    with errors_at(key, given, TypeError):
        return ReferenceChains(target, images, seed=SEED, **given)


def _make(
    config: DictConfig, model: TrainedModel, target: RBM, settings: Mapping[str, Any], path: Path
) -> None:
    data = data_learned(model, config)
    title, started = f"reference sample of {model.metadata.get('dataset')}", time.monotonic()

    def begin() -> _ChainBlocks:
        return _ChainBlocks(_chains(target, data.train.to(target.weight.device), settings), title)

    plan = save_plan(path.with_suffix(".pt"), config.checkpoint)
    with completed(begin, plan) as work:
        sample = work.chains.result()
        tensors = {
            "reference": packed(sample.reference),
            "held_out": packed(sample.held_out),
            "modes": packed(find_mode(target, data.train)),
        }
        report = {**sample.report, "seconds": time.monotonic() - started, "settings": dict(settings)}
        report["sources"] = sources_of(plan.path)
        write_json(path.with_suffix(".json"), report)
        write_tensors(path, tensors, {"report": json.dumps(report)})


def _read(path: Path, *, locked: bool = False) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
    """The draws and their report; see `runner.files.compute_once.Reader`."""
    if not path.is_file():
        return None
    try:
        draws, texts = read_tensors(path)
        return {name: draws[name] for name in PARTS}, json.loads(texts["report"])
    except (UnreadableTensorsError, KeyError, ValueError) as error:
        discard_damaged(path, f"it {one_sentence(error)}", path.with_suffix(".json"), locked=locked)
        return None
