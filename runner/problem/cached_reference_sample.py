"""The trained target of a problem, with the draws that stand for its truth; both are kept and shared."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from filelock import FileLock
from omegaconf import DictConfig
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes

from metrics.two_sample.mode_search import likely_mode
from metrics.two_sample.reference_chains import GroundTruthChains
from runner.config.construct import with_key
from runner.config.datasets import load as load_data
from runner.config.digest import SCHEMA, digest
from runner.config.node import node
from runner.execution import signals
from runner.execution.atomic_files import set_aside, write_bytes, write_json
from runner.execution.checkpoint import UnusableCheckpointError, load, save
from runner.execution.errors import UserError, one_sentence, warn
from runner.execution.progress import current
from runner.models.learned_target import model_of
from runner.models.model_files import model_digest
from runner.models.recipe import is_learned
from runner.models.trained_model import KeptModel
from runner.problem.build import Problem
from runner.store.run_store import Store
from targets.models.rbm import RBM

PARTS = ("reference", "held_out", "modes")
BLOCK_STEPS = 20
DIFFERENT, UNMIXED = 0.01, 1.1
SETS_DIFFER = (
    "on at least one model the two ground-truth sets, which start apart, differ "
    f"(permutation p < {DIFFERENT}): its floor and its ranking are void"
)
CHAINS_NOT_MIXED = (
    "on at least one model the single ground-truth chains have not mixed "
    f"(R-hat of U above {UNMIXED}): the truth is an ensemble of many short chains from two starts"
)
SEED = 0
"""Of the ground truth: it belongs to the model, whatever the seeds of the runs that are measured by it."""


def with_model(problem: Problem, store: Store) -> Problem:
    """`problem` on its trained target, with ground truth; unchanged where the target is not learned.

    The first process that needs a model or its ground truth makes it; others wait for it. Only an RBM has
    ground truth, which its block-Gibbs chains make.

    Raises:
        UserError: if the data set or the model cannot be had.
        Interrupted: if the process is told to stop; what was reached is kept.
    """
    if not is_learned(problem.config):
        return problem
    kept = model_of(problem.config, store)
    target = kept.target.to(problem.target.like()).requires_grad_(False)
    problem = replace(
        problem,
        target=target,
        notes=tuple(kept.notes),
        model=str(kept.path),
        target_name=f"{problem.config.target.get('name')}/{kept.metadata.get('dataset')}",
    )
    return _with_truth(problem, kept, cast(RBM, target), store) if target.block_gibbs else problem


def _with_truth(problem: Problem, kept: KeptModel, target: RBM, store: Store) -> Problem:
    """`problem`, whose `target` now has its ground truth, with what must be said of that."""
    truth, report = _ground_truth(problem.config, kept, target, store)
    for name, draws in truth.items():
        setattr(target, name, draws.to(target.weight))
    target.reference_chains = int(report["chains"])
    notes = [*problem.notes]
    notes += [SETS_DIFFER] if report["p_value"] < DIFFERENT else []
    notes += [CHAINS_NOT_MIXED] if report["rhat"] > UNMIXED else []
    beside = {"truth_rhat": report["rhat"], "truth_p_value": report["p_value"]}
    return replace(problem, notes=tuple(notes), beside=beside)


def check_truth(problem: Problem) -> None:
    """Tries the settings of the ground truth on a model that is not trained yet.

    Raises:
        UserError: naming what is refused.
    """
    if is_learned(problem.config) and problem.target.block_gibbs:
        target = cast(RBM, problem.target)
        images = target.like().new_zeros((1, target.n_visible))
        _chains(target, images, node(problem.config, "target").get("ground_truth"))


def _ground_truth(
    config: DictConfig, kept: KeptModel, target: RBM, store: Store
) -> tuple[Mapping[str, torch.Tensor], Mapping[str, Any]]:
    """Two sets of draws and the most likely mode, from the model's folder or made now; and their report."""
    settings = node(config, "target")["ground_truth"]
    model = model_digest(target)
    content = {"schema": SCHEMA, "model": model, "settings": settings, "seed": SEED}
    folder = store.model(kept.path.parent.name if kept.trained_here else model)
    computed = {"device": target.weight.device.type, "dtype": str(target.weight.dtype)}
    path = folder / f"ground_truth-{digest({**content, **computed})}.safetensors"
    found = _read(path)
    if found is None:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock")):
            found = _read(path, locked=True)
            if found is None:
                _make(config, kept, target, settings, path)
                found = _read(path, locked=True)
    assert found is not None
    return found


def _chains(target: RBM, images: torch.Tensor, settings: Any) -> GroundTruthChains:
    if not isinstance(settings, Mapping):
        raise UserError(f"target.ground_truth must be a group of keys, {settings!r} was given.")
    try:
        return GroundTruthChains(target, images, seed=SEED, **settings)
    except (ValueError, TypeError) as error:
        raise UserError(with_key(one_sentence(error), settings, "target.ground_truth")) from error


def _make(config: DictConfig, kept: KeptModel, target: RBM, settings: Mapping[str, Any], path: Path) -> None:
    data = load_data(kept.metadata.get("dataset"), kept.metadata.get("binarisation"), config.data.root)
    kept.check_data(data)
    chains = _chains(target, data.train.to(target.weight.device), settings)
    checkpoint, begun, saved_at = path.with_suffix(".pt"), time.monotonic(), time.monotonic()
    if checkpoint.exists():
        try:
            chains.load_state_dict(load(checkpoint)["chains"])
        except (UnusableCheckpointError, KeyError, TypeError, ValueError, RuntimeError) as error:
            warn(
                f"{checkpoint} cannot be used ({one_sentence(error)}); "
                f"it was moved to {set_aside(checkpoint)}."
            )
            chains = _chains(target, data.train.to(target.weight.device), settings)
    progress = current()
    progress.begin(f"ground truth of {kept.metadata.get('dataset')}", chains.steps, chains.step)
    try:
        with signals.deferred():
            while not chains.done:
                chains.advance(BLOCK_STEPS)
                progress.at(chains.step)
                if time.monotonic() - saved_at >= config.checkpoint.seconds or signals.wanted():
                    save(checkpoint, {"chains": chains.state_dict()})
                    saved_at = time.monotonic()
                signals.obey()
    finally:
        progress.end()
    truth = chains.result()
    tensors = {
        "reference": truth.reference.to(torch.uint8),
        "held_out": truth.held_out.to(torch.uint8),
        "modes": likely_mode(target, data.train).to(torch.uint8),
    }
    report = {**truth.report, "seconds": time.monotonic() - begun, "settings": dict(settings)}
    write_json(path.with_suffix(".json"), report)
    plain = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    write_bytes(path, to_bytes(plain, {"report": json.dumps(report)}))
    checkpoint.unlink(missing_ok=True)


def _read(path: Path, *, locked: bool = False) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
    """The kept draws and their report; None where there are none, or garbage.

    Only the holder of the lock sets garbage aside: to others it may be whole again by then.
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            report = json.loads((file.metadata() or {})["report"])
            return {name: file.get_tensor(name) for name in PARTS}, report
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        if locked:
            aside = set_aside(path)
            warn(f"{path} cannot be read ({one_sentence(error)}); it was moved to {aside} and is redone.")
        return None
