"""Dollar signs in titles, names and labels, between which Matplotlib sees formulas."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

FORMULA = r"\math"
"""What the numbers of a logarithmic axis have, which are formulas."""


def show_dollars(page: Figure) -> None:
    """Shows the dollar signs of a drawn page as they are: a sampler or a price is no formula."""
    texts: list[Text] = page.findobj(Text)
    for ax in page.axes:
        for axis in (ax.xaxis, ax.yaxis):
            if isinstance(axis.get_major_formatter(), FixedFormatter):
                texts += axis.get_ticklabels()
    for text in texts:
        if "$" in text.get_text() and FORMULA not in text.get_text():
            text.set_parse_math(False)
