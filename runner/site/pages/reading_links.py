"""Links between the readings of records, which in the report lie on the pages of their experiments."""

from __future__ import annotations

import re
from pathlib import Path

from runner.site.content.experiment_places import TABLE

LINK = re.compile(r"\[([^\]]*)\]\(\.\./([^/()]+)_([^/()_]+)/reading\.md\)")
"""``[its reading](../pt_figure3_paper/reading.md)``: the words, the experiment and the scale."""


def linked(reading: str, records: Path) -> str:
    """The Markdown `reading` with links to pages in place of those to other readings.

    A record that is not below `records` has no page: of its link the words are left.
    """

    def of_page(found: re.Match[str]) -> str:
        words, experiment, scale = found.groups()
        there = (records / f"{experiment}_{scale}" / TABLE).is_file()
        return f"[{words}]({experiment}-{scale}.html)" if there else words

    return LINK.sub(of_page, reading)
