"""The colours of figures and of the report are written in one place."""

from __future__ import annotations

import re
from pathlib import Path

import runner
from runner.report.figures.sampler_looks import COLOURS, IN_TURN
from runner.report.figures.style import GREY

SOURCE = Path(str(runner.__file__)).parent
HOME = {"sampler_looks.py", "style.py"}
LIGHTER = re.compile(r'"(#[0-9A-Fa-f]{6})": "#')
SITE = SOURCE / "site" / "static" / "site.js"


def test_no_other_file_names_a_colour_of_the_palette() -> None:
    colours = re.compile("|".join((*COLOURS, GREY)), re.IGNORECASE)
    files = [path for kind in ("py", "js", "css", "html") for path in SOURCE.rglob(f"*.{kind}")]
    copies = [path.name for path in files if path.name not in HOME and colours.search(path.read_text())]
    assert copies == [SITE.name], "which lightens two of them"


def test_what_a_dark_page_lightens_is_a_colour_of_the_palette() -> None:
    assert set(LIGHTER.findall(SITE.read_text())) < set(COLOURS)


def test_lines_in_turn_have_all_colours() -> None:
    assert sorted(IN_TURN) == sorted(COLOURS)
