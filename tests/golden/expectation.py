"""The files of expected values: one JSON file a group, one line a section, so that changes read well."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.golden.machine import Machine, same
from tests.golden.reading import Result

FOLDER = Path(__file__).parent / "expected"

RANKED = ("ess", "rhat", "truth_rhat", "ground_truth.rhat")
"""Names begin so of what is made of ranks: which of two equal values comes first depends on rounding."""

WHOLE = ("int8", "int16", "int32", "int64", "uint8", "bool", "samples", "ground_truth.draws", "data")
"""Digests of these types or names are of whole numbers, which no rounding changes."""

NEAR_ZERO = 1e-3
"""How far numbers near zero may be, as a share of how far others may be in proportion."""


@dataclass(frozen=True)
class Closeness:
    """How far numbers may be from the expected ones, in proportion.

    Attributes:
        numbers: 0 for the same bits. Elsewhere digests are compared where they are of whole numbers.
        ranked: how far values of ranks may be.
    """

    numbers: float
    ranked: float

    def of(self, name: str) -> float:
        """How far the value of this name may be."""
        return self.ranked if name.startswith(RANKED) else self.numbers


BITS = Closeness(0.0, 0.0)
"""On a machine like the one that recorded the numbers."""

TIES = 0.02
"""How far values of ranks may be on another one; with AVX2, SSE or another MKL they were within 0.009."""

OTHER_MACHINE = Closeness(1e-8, TIES)
"""On another one; with AVX2 or SSE in place of AVX512, or another MKL, numbers were within 2e-11."""

SENSITIVE = Closeness(1e-5, TIES)
"""On another one, where errors of rounding grow; with SSE numbers were within 1e-6."""

SOLVED = Closeness(1e-8, 1e-8)
"""Of eigensolvers on any machine: how LAPACK rounds depends on where a matrix lies in memory."""


@dataclass(frozen=True)
class Expected:
    """What was recorded of one case, of which commit, and where."""

    machine: Machine
    commit: str
    result: Result

    def closeness(self, here: Machine, *, solved: bool = False, sensitive: bool = False) -> Closeness:
        """How far numbers that are computed on the machine `here` may be from these.

        Args:
            solved: whether they are of linear algebra.
            sensitive: whether errors of rounding grow in them.
        """
        if same(self.machine, here):
            return SOLVED if solved else BITS
        return SENSITIVE if sensitive else OTHER_MACHINE


@dataclass(frozen=True)
class Difference:
    """One value that is not as expected; None stands for one that is not there."""

    case: str
    section: str
    name: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        missing = "(not there)"
        wanted = missing if self.expected is None else repr(self.expected)
        found = missing if self.got is None else repr(self.got)
        return f"{self.case} | {self.section} | {self.name}: expected {wanted}, got {found}"


def load(group: str, folder: Path = FOLDER) -> dict[str, Expected]:
    """The expectations of a group by case; empty where nothing is recorded."""
    path = folder / f"{group}.json"
    if not path.is_file():
        return {}
    content = json.loads(path.read_text())
    return {
        case: Expected(content["machine"], said["commit"], said["sections"])
        for case, said in content["cases"].items()
    }


def save(group: str, cases: Mapping[str, Expected], folder: Path = FOLDER) -> Path:
    """Writes the expectations of a group; all must be of one machine.

    Raises:
        ValueError: if they are not.
    """
    machines = {json.dumps(each.machine, sort_keys=True) for each in cases.values()}
    if len(machines) != 1:
        raise ValueError(
            f"{group} would hold cases of {len(machines)} machines; record all of the group anew."
        )
    lines = ["{", f'"machine": {machines.pop()},', '"cases": {']
    blocks = []
    for case, each in sorted(cases.items()):
        sections = ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(section)}" for name, section in each.result.items()
        )
        blocks.append(
            f'{json.dumps(case)}: {{"commit": {json.dumps(each.commit)}, "sections": {{\n{sections}\n}}}}'
        )
    lines += [",\n".join(blocks), "}}", ""]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{group}.json"
    path.write_text("\n".join(lines))
    return path


def differences(
    case: str, expected: Result, got: Result, closeness: Closeness = BITS
) -> Iterator[Difference]:
    """Every value of `got` that is not as `expected`, and what only one of them has."""
    for section in [*expected, *(name for name in got if name not in expected)]:
        wanted, found = expected.get(section, {}), got.get(section, {})
        for name in [*wanted, *(name for name in found if name not in wanted)]:
            both = name in wanted and name in found
            if not both or not _alike(name, wanted[name], found[name], closeness):
                yield Difference(case, section, name, wanted.get(name), found.get(name))


def is_digest(value: Any) -> bool:
    """Whether a recorded value is a digest, or a list of them."""
    if isinstance(value, list):
        return bool(value) and all(map(is_digest, value))
    last = value.split()[-1] if isinstance(value, str) and value else ""
    return len(last) in (16, 64) and not set(last) - set("0123456789abcdef")


def _alike(name: str, one: Any, other: Any, closeness: Closeness) -> bool:
    """Whether two values of a name are close; digests of rounded numbers need to be there alone."""
    if closeness != BITS and is_digest(one) and is_digest(other) and not _is_whole(name, one):
        return True
    return _same(one, other, closeness.of(name))


def _is_whole(name: str, value: Any) -> bool:
    """Whether a digest, or a list of them, is of whole numbers."""
    return name in WHOLE or (isinstance(value, str) and value.split()[0] in WHOLE)


def _same(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if isinstance(one, bool) or isinstance(other, bool) or not _numbers(one, other):
        return bool(one == other)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if not tolerance:
        return repr(float(one)) == repr(float(other))
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=NEAR_ZERO * tolerance)


def _numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) for value in values)
