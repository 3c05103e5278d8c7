"""The rule by which a published number gets its verdict; in words: `runner.verdicts.page.RULE`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from metrics.inference.few_seeds import Interval
from metrics.inference.prediction import prediction_interval


class Verdict(Enum):
    """What can be said of a published number."""

    agrees = "agrees"
    differs = "differs"
    undecided = "undecided"
    not_rankable = "not rankable"
    not_comparable = "not comparable"
    not_measured = "not measured"


@dataclass(frozen=True)
class Evidence:
    """What the rule looks at, in the metric's own unit.

    Attributes:
        published: the published mean.
        rounding: half a unit of its last printed digit.
        matters: largest less smallest published mean of its column: the difference that matters.
        ours: mean and standard deviation over our seeds; None where no run has a value.
        differs: by kind, what is another one than the published.
        floor: why the floor is invalid; None where it is valid or there is none.
        at_floor: whether both numbers lie at a valid floor.
        lost: runs of ours that ended without a value, failed ones too: the others are not a fair choice.
        absent: runs of ours that the record has not, whatever became of them.
    """

    published: float
    rounding: float
    matters: float
    ours: Interval | None
    differs: Mapping[str, str] = field(default_factory=dict)
    floor: str | None = None
    at_floor: bool = False
    lost: int = 0
    absent: int = 0


def verdict(evidence: Evidence) -> tuple[Verdict, str]:
    """The verdict, and its reason in a few words; it says where it is from a part of the runs."""
    if evidence.ours is None and not evidence.lost:
        return Verdict.not_measured, "no record holds it"
    if evidence.differs:
        return Verdict.not_comparable, ", ".join(evidence.differs)
    done = (evidence.ours.n if evidence.ours is not None else 0) + evidence.lost
    found, reason = _of_numbers(evidence, evidence.ours, done)
    if evidence.absent:
        reason += f" ({done} of {done + evidence.absent} runs are recorded)"
    return found, reason


def _of_numbers(evidence: Evidence, ours: Interval | None, done: int) -> tuple[Verdict, str]:
    """The verdict on a number that can be compared with `ours`, of so many runs that are `done`."""
    if evidence.floor is not None:
        return Verdict.not_rankable, evidence.floor
    if evidence.at_floor:
        return Verdict.not_rankable, "both at the floor"
    if evidence.lost or ours is None:
        return Verdict.undecided, f"{evidence.lost} of {done} runs have no value"
    interval = prediction_interval(ours)
    if interval is None:
        return Verdict.undecided, "one seed has no interval"
    lo, hi = interval
    if not lo - evidence.rounding <= evidence.published <= hi + evidence.rounding:
        return Verdict.differs, "below our interval" if evidence.published < lo else "above our interval"
    if hi - lo > evidence.matters:
        return Verdict.undecided, "interval wider than the published column"
    return Verdict.agrees, "in our interval"
