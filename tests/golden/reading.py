"""What a command left on disk, as numbers and digests by name; nothing of it is a time, a place or an id.

A *result* is a dictionary of sections, and a section one of names to numbers, texts or flat lists. It is made
of plain files alone, so that modules, classes and ids of runs may change without a difference.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open

Section = dict[str, Any]
Result = dict[str, Section]

TIMES = ("seconds", "per_second", "created", "started", "finished")
"""What has one of these words in the last part of its name is a time."""

HOW_WRITTEN = ("digest_of_this_file", "sources")
"""What a file says of itself and of the code that wrote it."""

LABELS = ("seed", "target", "sampler", "steps", "evaluations", "batch", "exact", "axes", "notes")
"""What is kept of a summary besides its metrics, which are those of the last step."""

TUNING = ("evaluations", "hyperparameters", "report")
"""What is kept of tuning; it is in a run's summary and in the file that runs share."""

SENTENCES = ("report.warnings",)
"""What is left out of it: sentences, which may be worded anew."""

NUMBERS = ("mean", "lo", "hi", "n", "sd", "p_value")
"""The columns of a table that hold what was measured."""

NOT_MEASURED = ("without_value", "closed_form")
"""Columns of a table that are left out of its digests: they say of its means where they come from."""

ADDED = ("best_validation_log_likelihood", "best_validation_log_likelihood_se")
"""Values that digests of all steps leave out, since they came later; the last step is compared with them."""

SHORT = 16
"""Hexadecimal digits of a digest, that of weights excepted."""


def is_time(name: str) -> bool:
    """Whether what is called `name` differs from one time to the next."""
    return any(word in name.split(".")[-1] for word in TIMES)


def runs_in(root: Path) -> set[str]:
    """Names of the folders of the runs below an output root."""
    return {path.parent.name for path in root.glob("runs/*/summary.json")}


def run(root: Path, name: str) -> Result:
    """Everything of one run, by section: ``labels``, ``step N``, ``tuned``, ``files`` and ``model``."""
    folder = root / "runs" / name
    summary = json.loads((folder / "summary.json").read_text())
    found: Result = {"labels": {key: summary[key] for key in LABELS if key in summary}}
    found |= _steps(folder / "metrics.csv", summary)
    if summary.get("tuning"):
        found["tuned"] = tuned(summary["tuning"])
    files = {}
    for path in sorted({*folder.glob("*.npz")} - {folder / "series.npz"}):  # its diagnostics are compared
        files |= {f"{path.stem}.{key}": value for key, value in arrays(path).items()}
    if files:
        found["files"] = files
    if summary.get("model"):
        place = Path(summary["model"])
        found["model"] = model(place if place.is_dir() else place.parent)
    return found


def tuned(said: Mapping[str, Any]) -> Section:
    """What tuning found, and what it cost."""
    found = flat({key: said[key] for key in TUNING})
    return {name: value for name, value in found.items() if name not in SENTENCES}


def tuning_results(root: Path) -> list[Section]:
    """All that was tuned below an output root, in an order that does not depend on its names."""
    found = [tuned(json.loads(path.read_text())) for path in root.glob("artefacts/*.json")]
    return sorted(found, key=lambda section: json.dumps(section, sort_keys=True))


def _steps(path: Path, summary: Mapping[str, Any]) -> Result:
    """Metrics by step. The labels of the rows, and the last of them, must be those of the summary."""
    found: Result = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if (row["target"], row["sampler"]) != (summary["target"], summary["sampler"]):
                raise AssertionError(f"{path} has other labels than its summary")
            if not is_time(row["metric"]):
                step = found.setdefault(f"step {row['step']}", {"evaluations": float(row["evaluations"])})
                step[row["metric"]] = float(row["value"])
    last = {key: value for key, value in summary["metrics"].items() if not is_time(key)}
    rows = list(found.values() or [{}])[-1]
    if last != {key: value if math.isfinite(value) else None for key, value in rows.items()}:
        raise AssertionError(f"{path} and its summary do not say the same of the last step")
    return found


def model(folder: Path) -> Section:
    """Weights, draws, history and ground truth of a trained model, as numbers and digests."""
    found: Section = {"weights": tensors(folder / "model.safetensors")}
    if (folder / "samples.safetensors").is_file():
        found["samples"] = tensors(folder / "samples.safetensors", SHORT)
    if (folder / "model.json").is_file():
        said = json.loads((folder / "model.json").read_text())
        found["evaluations"] = said.get("evaluations")
        found["data"] = said.get("data_fingerprint")
        for key in ("history", "validations"):
            entries = [flat(entry) for entry in said.get(key) or []]
            if entries:
                found[key] = digest(json.dumps(entries, sort_keys=True).encode())
                found |= {f"{key}.last.{name}": value for name, value in entries[-1].items()}
    for path in sorted(folder.glob("ground_truth*.json")):
        found |= {f"ground_truth.{name}": value for name, value in flat(json.loads(path.read_text())).items()}
    for path in sorted(folder.glob("ground_truth*.safetensors")):
        with safe_open(folder / "model.safetensors", framework="pt") as file:
            units = file.get_slice("weight").get_shape()[-1]
        found["ground_truth.draws"] = tensors(path, SHORT, partial(_states, units))
    return found


def shared(root: Path) -> Section:
    """What runs share besides models: images and classifiers, as counts of each digest."""
    found: Section = {}
    for place in ("images", "classifiers"):
        digests = [digest(json.dumps(arrays(path)).encode()) for path in root.glob(f"{place}/**/*.npz")]
        digests += [tensors(path, SHORT) for path in root.glob(f"{place}/**/*.safetensors")]
        if digests:
            found[place] = sorted(digests)
    return found


def cells(path: Path) -> Section:
    """Digest of each cell of a table, of all its metrics and what is said of them, by row and column."""
    found: dict[str, list[tuple[str, Section]]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if not is_time(row["metric"]):
                kept = {key: value for key, value in row.items() if key not in NOT_MEASURED}
                found.setdefault(f"{row['row']}, {row['cell']}", []).append((row["metric"], kept))
    return {name: digest_of(sorted(metrics, key=lambda each: each[0])) for name, metrics in found.items()}


def table(path: Path) -> Result:
    """The numbers of each cell of a table, by row and column."""
    found: Result = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if not is_time(row["metric"]):
                cell = found.setdefault(f"table, {row['row']}, {row['cell']}", {})
                numbers = {key: float(row[key]) for key in NUMBERS if row[key]}
                cell |= {f"{row['metric']}.{key}": value for key, value in numbers.items()}
    return found


def flat(node: Any, name: str = "") -> Section:
    """A node of JSON as names with dots and their numbers, texts or flat lists; times are left out."""
    if isinstance(node, Mapping):
        found: Section = {}
        for key, value in node.items():
            found |= flat(value, f"{name}.{key}" if name else str(key))
        return found
    if isinstance(node, list) and any(isinstance(item, Mapping) for item in node):
        return flat({str(place): item for place, item in enumerate(node)}, name)
    return {} if is_time(name) or name.split(".")[0] in HOW_WRITTEN else {name: node}


def arrays(path: Path) -> dict[str, str]:
    """Digest of each array in an ``.npz`` file, by name."""
    with np.load(path) as kept:
        return {name: _array(np.ascontiguousarray(kept[name])) for name in sorted(kept)}


def _array(values: np.ndarray) -> str:
    return f"{values.dtype} {list(values.shape)} {digest(values.tobytes())}"


def _states(units: int, draws: torch.Tensor) -> torch.Tensor:
    """A byte a unit, where a file has a bit for each."""
    if draws.shape[-1] == units:
        return draws
    return torch.from_numpy(np.unpackbits(draws.numpy(), axis=-1, count=units))


def tensors(path: Path, digits: int = 64, read: Callable[[torch.Tensor], torch.Tensor] = torch.clone) -> str:
    """SHA-256 of the tensors in a ``.safetensors`` file: name, dtype, shape and bytes of each, by name.

    Args:
        read: what is made of each tensor first.
    """
    digest_of_all = hashlib.sha256()
    with safe_open(path, framework="pt") as file:
        for name in sorted(file.keys()):
            tensor = read(file.get_tensor(name)).contiguous()
            kind = str(tensor.dtype).removeprefix("torch.")
            digest_of_all.update(f"{name} {kind} {list(tensor.shape)} ".encode())
            digest_of_all.update(tensor.flatten().view(dtype=_BYTES[tensor.element_size()]).numpy().tobytes())
    return digest_of_all.hexdigest()[:digits]


def digest(content: bytes) -> str:
    """The first digits of the SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()[:SHORT]


def digest_of(sections: Iterable[tuple[str, Section]]) -> str:
    """A digest of sections, of their names, metrics and values."""
    return digest(json.dumps([[name, dict(sorted(section.items()))] for name, section in sections]).encode())


_BYTES = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
