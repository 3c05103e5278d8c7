"""The files of expected values: one JSON file a group, one line a section, so that changes read well."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.golden.machine import Machine, machine, same
from tests.golden.reading import Result

FOLDER = Path(__file__).parent / "expected"

OTHER_MACHINE = 1e-6
"""How far, in proportion, numbers of another machine may be from the recorded ones."""

SOLVED = 1e-8
"""How far those of eigensolvers may be: how LAPACK rounds depends on where a matrix lies in memory."""

NEAR_ZERO = 1e-9
"""How far from them numbers near zero may be, where others may differ at all."""


@dataclass(frozen=True)
class Expected:
    """What was recorded of one case, of which commit, and where."""

    machine: Machine
    commit: str
    result: Result

    def tolerance(self, *, solved: bool = False) -> float:
        """How far, in proportion, numbers computed here may be from these; `solved`: by linear algebra."""
        if not same(self.machine, machine()):
            return OTHER_MACHINE
        return SOLVED if solved else 0.0


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


def differences(case: str, expected: Result, got: Result, tolerance: float = 0.0) -> Iterator[Difference]:
    """Every value of `got` that is not as `expected`, and what only one of them has.

    Args:
        tolerance: how far, in proportion, a number may be from the expected one. Where it is not 0, digests
            are not compared.
    """
    for section in [*expected, *(name for name in got if name not in expected)]:
        wanted, found = expected.get(section, {}), got.get(section, {})
        for name in [*wanted, *(name for name in found if name not in wanted)]:
            if tolerance and is_digest(wanted.get(name)):
                continue
            if name not in wanted or name not in found or not _same(wanted[name], found[name], tolerance):
                yield Difference(case, section, name, wanted.get(name), found.get(name))


def is_digest(value: Any) -> bool:
    """Whether a recorded value is a digest, or a list of them."""
    if isinstance(value, list):
        return bool(value) and all(map(is_digest, value))
    last = value.split()[-1] if isinstance(value, str) and value else ""
    return len(last) in (16, 64) and not set(last) - set("0123456789abcdef")


def _same(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_same(a, b, tolerance) for a, b in zip(one, other, strict=True))
    if isinstance(one, bool) or isinstance(other, bool) or not _numbers(one, other):
        return bool(one == other)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if not tolerance:
        return repr(float(one)) == repr(float(other))
    return math.isclose(one, other, rel_tol=tolerance, abs_tol=NEAR_ZERO)


def _numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float)) for value in values)
