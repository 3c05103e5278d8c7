"""A finding of the audit: a defect of a paper or of released code, and the figures that show it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial


@dataclass(frozen=True)
class Expected:
    """The interval that a figure must lie in, and its text."""

    low: float
    high: float
    text: str

    def holds(self, value: float) -> bool:
        """Whether `value` is in the interval; NaN is not."""
        return self.low <= value <= self.high


def near(value: float, tolerance: float) -> Expected:
    """Within `tolerance` of `value`; `value` itself where the tolerance is 0."""
    if tolerance == 0:
        return Expected(value, value, short_number(value))
    return Expected(
        value - tolerance, value + tolerance, f"{short_number(value)} ± {short_number(tolerance)}"
    )


def at_most(value: float) -> Expected:
    """No more than `value`."""
    return Expected(-math.inf, value, f"<= {short_number(value)}")


def at_least(value: float) -> Expected:
    """No less than `value`."""
    return Expected(value, math.inf, f">= {short_number(value)}")


class Basis(Enum):
    """What it means that a figure is in its interval."""

    NOTES = "agrees"
    """Our notes state the figure and enough of the setting: it is measured again."""

    FITTED = "fitted"
    """The notes state the figure but not the setting, and ours was searched for so that it comes out."""

    BOUND = "holds"
    """A bound of ours: the notes state no such figure, or ours is another one (`Figure.stated`)."""


@dataclass(frozen=True)
class Figure:
    """One measured number.

    Attributes:
        name: what it is.
        expected: the interval in which it must lie.
        measured: the figure measured here.
        error: its standard error, where it was estimated from draws.
        basis: what it means that it is in the interval.
        stated: the figure of the notes, where the interval is not around it: it is not reproduced.
    """

    name: str
    expected: Expected
    measured: float
    error: float | None = None
    basis: Basis = Basis.NOTES
    stated: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the measured figure is in its interval."""
        return self.expected.holds(self.measured)

    @property
    def standing(self) -> str:
        """``agrees``, ``fitted``, ``holds``, ``not the notes' figure``, or ``FAILS``."""
        if not self.holds:
            return "FAILS"
        return self.basis.value if self.stated is None else "not the notes' figure"

    @property
    def expectation(self) -> str:
        """The interval as printed, with the notes' figure where that is another one."""
        return self.expected.text + ("" if self.stated is None else f" (notes {short_number(self.stated)})")

    @property
    def text(self) -> str:
        """The measured figure as printed."""
        error = "" if self.error is None else f" (se {self.error:.1g})"
        return short_number(self.measured) + error


def fitted(name: str, expected: float, measured: float, tolerance: float = 0.01) -> Figure:
    """A figure of the notes, within `tolerance` of it in a setting that was searched for."""
    return Figure(name, near(expected, tolerance), measured, basis=Basis.FITTED)


def bound(
    name: str, expected: Expected, measured: float, error: float | None = None, stated: float | None = None
) -> Figure:
    """A figure in a bound of ours."""
    return Figure(name, expected, measured, error, Basis.BOUND, stated)


@dataclass(frozen=True)
class Finding:
    """A finding of the audit.

    Attributes:
        key: short name, for commands and tests.
        title: the finding in a line.
        where: where in a paper or in released code it is.
        source: where our notes record it.
        method: how the figures are obtained.
        note: what was chosen because the source does not state it, and what differs for that.
        measure: takes the measurements; seconds at most.
    """

    key: str
    title: str
    where: str
    source: str
    method: str
    note: str
    measure: Callable[[], Sequence[Figure]]


def finding(
    key: str, title: str, *, where: str, source: str, method: str, note: str = ""
) -> Callable[[Callable[[], Sequence[Figure]]], Finding]:
    """Makes a finding of the function that measures it; the arguments are those of `Finding`."""
    return partial(Finding, key, title, where, source, method, note)


@dataclass(frozen=True)
class MeasuredFinding:
    """A finding with its figures and the seconds that measuring them took."""

    finding: Finding
    figures: tuple[Figure, ...]
    seconds: float

    @property
    def verdict(self) -> str:
        """``reproduced``, ``setting fitted``, ``in part`` or ``FAILS``, by the weakest of the figures."""
        if not all(figure.holds for figure in self.figures):
            return "FAILS"
        if any(figure.stated is not None for figure in self.figures):
            return "in part"
        if any(figure.basis is Basis.FITTED for figure in self.figures):
            return "setting fitted"
        return "reproduced"


def measure_finding(finding: Finding) -> MeasuredFinding:
    """Measures the figures of a finding."""
    start = time.perf_counter()
    figures = tuple(finding.measure())
    return MeasuredFinding(finding, figures, time.perf_counter() - start)


def short_number(value: float) -> str:
    """`value` with up to four significant digits, powers of ten only where they are needed."""
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e5):
        return f"{value:.2e}"
    return f"{value:.4g}"
