"""The pages of the notebooks: their text, code and stored outputs as Markdown; nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbconvert import MarkdownExporter

FOLDER = "notebooks"
FRAME = re.compile(r'<style scoped>.*?<table border="1" class="dataframe">', re.DOTALL)
"""The style that pandas gives a table; the site has its own."""


@dataclass(frozen=True)
class NotebookPage:
    """A page of the site.

    Attributes:
        address: of the page, relative to docs/.
        text: in Markdown.
        pictures: by address, the figures that the notebook drew.
    """

    address: str
    text: str
    pictures: dict[str, bytes]


def pages(docs: Path) -> Iterator[NotebookPage]:
    """One page for each notebook under `docs`; a link to a notebook becomes one to its page."""
    for path in sorted((docs / FOLDER).glob("*.ipynb")):
        names = {"unique_key": path.stem}
        text, resources = MarkdownExporter().from_filename(str(path), resources=names)
        text = text.replace(".ipynb)", ".md)").replace("![png]", "![The figure of the cell above]")
        text = FRAME.sub("<table>", text)
        note = f"\n[Download this notebook]({path.name}). `make notebooks` executes it anew.\n"
        pictures = {f"{FOLDER}/{name}": data for name, data in resources["outputs"].items()}
        yield NotebookPage(f"{FOLDER}/{path.stem}.md", f"{text}{note}", pictures)
