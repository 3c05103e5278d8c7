"""What conf/published/protocols.yaml says of how our protocol differs from the published one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from runner.execution.errors import UserError, not_allowed
from runner.files.plain_yaml import plain_yaml
from runner.report.table_shape import TableShape
from runner.verdicts.cells import CONF, Block, Counterpart

KINDS = ("target", "data", "budget", "statistic", "network")
"""What can be another one than the published."""

PUBLISHED_BUDGET = "as published"


@dataclass
class Protocol:
    """One entry of `protocols:`, of the given columns and rows, as our table calls them, or of all."""

    experiment: str
    metrics: list[str]
    columns: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    differs: dict[str, str] = field(default_factory=dict)
    smaller: dict[str, str] = field(default_factory=dict)
    equivalent: dict[str, str] = field(default_factory=dict)
    released: str = ""
    shown: str = ""

    def fits(self, place: Counterpart, row: str | None) -> bool:
        """Whether it is about this metric, column and row of ours; None stands for the column as a whole."""
        named = self.experiment == place.experiment and place.metric.metric in self.metrics
        among = row is None or not self.rows or row in self.rows
        return named and among and (not self.columns or place.column in self.columns)


@dataclass
class Unmeasured:
    """One entry of `unmeasured:`."""

    paper: str
    table: str
    metrics: list[str]
    why: str
    settings: list[str] = field(default_factory=list)


@dataclass
class Reading:
    """One entry of `readings:`: rows of our table that read the published settings in another way.

    Attributes:
        what: how they read them.
        rows: of rows with a published number, those that have it in this reading.
    """

    experiments: list[str]
    what: str
    rows: dict[str, str]

    def of(self, place: Counterpart) -> Counterpart:
        """The same place in our table in this reading."""
        rows = {paper: self.rows[ours] for paper, ours in place.rows.items() if ours in self.rows}
        return replace(place, rows=rows, reading=self.what, first=place.rows)


@dataclass
class Protocols:
    """The whole file."""

    protocols: list[Protocol]
    unmeasured: list[Unmeasured]
    readings: list[Reading] = field(default_factory=list)

    def settings(self, place: Counterpart, row: str | None = None) -> list[str]:
        """Numbers in docs/papers/settings.md, in the file's order."""
        fitting = [one.settings for one in self.protocols if one.fits(place, row)]
        return list(dict.fromkeys(number for numbers in fitting for number in numbers))

    def released(self, place: Counterpart, row: str) -> str:
        """What follows the released code where the paper says otherwise; empty where nothing does."""
        return "; ".join(one.released for one in self.protocols if one.released and one.fits(place, row))

    def shown(self, place: Counterpart, row: str) -> str:
        """What a run has shown of the reason why a number differs; empty where none has."""
        return "; ".join(one.shown for one in self.protocols if one.shown and one.fits(place, row))

    def order(self, place: Counterpart) -> int:
        """The place of its experiment and metric in the file, of which the first is compared."""
        named = [(one.experiment, name) for one in self.protocols for name in one.metrics]
        own = (place.experiment, place.metric.metric)
        return named.index(own) if own in named else len(named)

    def budget(self, place: Counterpart, row: str | None, scale: str, shape: TableShape) -> str:
        """`PUBLISHED_BUDGET`, or why it is as good as that; empty where it is smaller."""
        if "budget" in self.differs(place, row, scale, shape):
            return ""
        fitting = [one for one in self.protocols if one.fits(place, row)]
        said = [one.equivalent[scale] for one in fitting if scale in one.equivalent]
        return said[0] if said else PUBLISHED_BUDGET

    def differs(self, place: Counterpart, row: str | None, scale: str, shape: TableShape) -> dict[str, str]:
        """What is another one than the published at this scale, by kind; empty if it can be compared."""
        found: dict[str, str] = {}
        for one in self.protocols:
            if one.fits(place, row):
                found |= one.differs
                found |= {"budget": one.smaller[scale]} if scale in one.smaller else {}
        if scale in shape.reduced:
            found["budget"] = "see the table's reduced protocol"
        if scale == "smoke":
            found["budget"] = "smoke only shows that everything works"
        return found

    def unmeasured_of(self, block: Block) -> Unmeasured | None:
        """The entry that says why nothing of ours stands beside a block."""
        fits = [
            one
            for one in self.unmeasured
            if (one.paper, one.table) == (block.paper, block.table) and block.metric in one.metrics
        ]
        return fits[0] if fits else None


def read_protocols(path: Path = CONF / "published" / "protocols.yaml") -> Protocols:
    """The file, checked against the dataclasses above.

    Raises:
        UserError: for an unknown key or a kind of difference that is not among `KINDS`.
    """
    content: Any = plain_yaml(path.read_bytes())
    try:
        read = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(Protocols), content))
    except OmegaConfBaseException as error:
        raise UserError(f"{path.name}: {error.full_key}: {str(error).splitlines()[0]}.") from error
    assert isinstance(read, Protocols)
    for kind in [kind for one in read.protocols for kind in one.differs]:
        if kind not in KINDS:
            raise not_allowed(f"{path.name}: what differs must be one of {', '.join(KINDS)}", kind, KINDS)
    return read


def fitting(places: Sequence[Counterpart], protocols: Protocols) -> list[Counterpart]:
    """`places`, the metric that is to be compared first, then the same in other readings."""
    first = sorted(places, key=protocols.order)
    others = [
        one.of(place) for place in first for one in protocols.readings if place.experiment in one.experiments
    ]
    return [*first, *others]
