"""Each example of a command says how long it takes, in its block or in the paragraph beside it."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT

PAGES = [
    *("README.md", "docs/quick-start.md", "docs/command-line.md", "docs/outputs.md"),
    *("docs/guides/flat-modes.md", "docs/guides/rbm.md", "docs/guides/tempering.md"),
    *(
        f"docs/extend/{name}.md"
        for name in ("experiment", "metric", "sampler", "target", "task", "tempering")
    ),
]
DURATION = re.compile(r"\b\d+(\.\d+)? (s|min|minutes)\b")
PRINTS = re.compile(r"prints?|printed|table|line|```text|measured")


@pytest.mark.parametrize("page", PAGES)
def test_an_example_says_what_it_prints_and_how_long_it_takes(page: str) -> None:
    text = (ROOT / page).read_text()
    for found in re.finditer(r"^```bash\n(.*?)^```\n", text, re.DOTALL | re.MULTILINE):
        block = found[1]
        if "runner" not in block and "pt-table1" not in block:
            continue
        before = text[: found.start()].rstrip().rsplit("\n\n", 1)[-1]
        beside = "\n\n".join([before, block, *text[found.end() :].lstrip().split("\n\n")[:2]])
        assert DURATION.search(beside), f"{page} does not say how long this takes:\n{block}"
        assert PRINTS.search(beside), f"{page} does not say what this prints:\n{block}"
