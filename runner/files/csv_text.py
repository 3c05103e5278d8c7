"""CSV as text: floats in their shortest exact form, so that the same values give the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """A line for each row; nothing for None."""
    text = io.StringIO()
    plain = ([float(each) if isinstance(each, float) else each for each in row] for row in rows)
    csv.writer(text, lineterminator="\n").writerows(plain)
    return text.getvalue()


def csv_of_records(records: Sequence[Mapping[str, object]]) -> str:
    """The records below a line of their keys, which are those of the first."""
    keys = list(records[0]) if records else []
    return csv_text([keys, *([record[key] for key in keys] for record in records)])
