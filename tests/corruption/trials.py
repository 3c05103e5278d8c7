"""One trial: a file of a store is damaged, the command repeated, and what became of the numbers is judged."""

from __future__ import annotations

import csv
import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file

from runner.store.verification import ROOMS, verify
from runner.sweep.jobs import Job
from tests.corruption.damage import damaged
from tests.corruption.stores import STORES, Store, repeated

FOUND, HARMLESS, SILENT, STUCK = "found", "harmless", "silent", "stuck"
"""The outcomes.

`FOUND`: the command says so and mends it; `runner.verify` names a file that no other command reads.
`HARMLESS`: the command says nothing and its results are those of an undamaged store.
`SILENT`: they are others, or the file stays as it is and nothing tells.
`STUCK`: the command fails, or its repetition fails or warns again.
"""

TIMES = ("seconds", "created", "started", "finished", "attempts", "batch", "digest_of_this_file", "files")
"""Keys with one of these words may differ: a run that is computed again may be alone in its batch."""


@dataclass(frozen=True)
class Trial:
    """What a damage led to.

    Attributes:
        kind: what is in the file.
        way: how it was damaged.
        outcome: one of the four.
        said: what the command said.
        verified: whether `runner.verify` names the file.
    """

    kind: str
    way: str
    outcome: str
    said: str
    verified: bool


@dataclass
class Damaged:
    """A store that is damaged again and again, each time from its whole state.

    Attributes:
        folder: an empty folder for the whole store and its copies.
    """

    store: Store
    folder: Path
    whole: Path = field(init=False)
    root: Path = field(init=False)
    job: Job = field(init=False)
    expected: str | None = field(init=False)

    def __post_init__(self) -> None:
        self.whole, self.root = self.folder / "whole", self.folder / "outputs"
        self.store.make(self.root)
        self.root.rename(self.whole)
        self.job = self.store.job(self.root)
        self._copy()
        status, said = repeated(self.job)
        assert status == 0, said
        assert "warning" not in said, said
        self.expected = results(self.root)
        assert self.expected is not None

    def trial(self, kind: str, chance: random.Random) -> Trial:
        """Damages a file of this kind, gives the command twice, and judges what became of the numbers."""
        self._copy()
        path = chance.choice(sorted(self.root.glob(self.store.kinds[kind])))
        way, wrong = damaged(path.read_bytes(), chance)
        path.write_bytes(wrong)
        verified = path in verify([self.root / room for room in ROOMS]).damaged
        status, said = repeated(self.job)
        again, then_said = repeated(self.job)
        found = verified if kind in self.store.for_people else "warning" in said
        left = path.exists() and path.read_bytes() == wrong
        if left and kind in self.store.for_people:
            path.write_bytes((self.whole / path.relative_to(self.root)).read_bytes())
        if status or again or then_said:
            outcome = STUCK
        elif results(self.root) != self.expected or (left and not found):
            outcome = SILENT
        else:
            outcome = FOUND if found else HARMLESS
        return Trial(kind, way, outcome, f"{said}{then_said}", verified)

    def _copy(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.whole, self.root)


def results(root: Path) -> str | None:
    """All below an output root that is no time, as one text, without what was set aside.

    None where it cannot be read.
    """
    read = {".json": _json, ".csv": _rows, ".npz": _arrays, ".safetensors": _tensors, ".yaml": Path.read_text}
    for path in [*root.rglob("*.bad-*"), *root.rglob("damaged-*")]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    found = {}
    for path in sorted(root.rglob("*")):
        if path.suffix in read:
            try:
                found[path.relative_to(root).as_posix()] = read[path.suffix](path)
            except Exception:
                return None
    return json.dumps(found, sort_keys=True)


def _json(path: Path) -> Any:
    return _without_times(json.loads(path.read_text()))


def _without_times(node: Any) -> Any:
    """JSON without what differs from one computation of the same numbers to the next."""
    if isinstance(node, dict):
        own = {key: value for key, value in node.items() if not any(word in key for word in TIMES)}
        return {key: _without_times(value) for key, value in own.items()}
    return [_without_times(value) for value in node] if isinstance(node, list) else node


def _rows(path: Path) -> list[dict[str, str]]:
    rows = csv.DictReader(path.read_text().splitlines())
    return [{**row, "seconds": ""} for row in rows if "seconds" not in row["metric"]]


def _arrays(path: Path) -> dict[str, Any]:
    with np.load(path) as content:
        return {name: content[name].tolist() for name in content.files}


def _tensors(path: Path) -> dict[str, Any]:
    return {name: tensor.tolist() for name, tensor in load_file(path).items()}


def trials(kinds: list[str], number: int, seed: int = 0) -> Iterator[Trial]:
    """So many trials of each kind."""
    chance = random.Random(seed)
    for store in STORES.values():
        chosen = [kind for kind in store.kinds if kind in kinds]
        if not chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            subject = Damaged(store, Path(folder))
            for kind in chosen:
                for _ in range(number):
                    yield subject.trial(kind, chance)


def counted(done: list[Trial]) -> dict[str, Counter[str]]:
    """How often each kind had each outcome."""
    found: dict[str, Counter[str]] = {}
    for trial in done:
        found.setdefault(trial.kind, Counter())[trial.outcome] += 1
    return found
