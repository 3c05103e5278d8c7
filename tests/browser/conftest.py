"""A Chromium that is already there, and the report of a made-up store in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from runner.site.build import Report
from tests.support.site.made_up_store import made_up_store

RECORD = Path(__file__).parents[2] / "outputs" / "record"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Parallel coordinates are drawn by WebGL, here without a graphics card.
ARGUMENTS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-zygote"]
PATIENCE = 30_000.0
"""Milliseconds that a page may take: the computer may be busy."""


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    root, hydra = made_up_store(tmp_path_factory.mktemp("store"))
    for name in ("pt_table1_quick", "edlp_table2_quick", "pt_figure2_quick"):
        shutil.copytree(RECORD / name, root / "record" / name)
    made = Report(root, root / "report", hydra)
    made.build()
    return made


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="the extra 'browser' is not installed")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(NAMES)} is there")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield started
        started.close()


@dataclass
class Visit:
    """A tab on the report.

    Attributes:
        page: Playwright's page.
        errors: what its console said, and what its scripts raised.
        requests: addresses that it asked for.
    """

    page: Any
    base: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, name: str) -> Any:
        """Opens a page and waits until its scripts are done."""
        # A page that differs by its anchor alone would not be loaded again.
        self.page.goto("about:blank")
        self.page.goto(f"{self.base}/{name}", timeout=PATIENCE)
        self.ready()
        return self.page

    def ready(self) -> None:
        """Waits until the scripts of the page are done."""
        self.page.wait_for_selector("html[data-ready]", state="attached", timeout=PATIENCE)


def visit_of(browser: Any, base: str, **options: Any) -> Visit:
    """A tab of its own, whose complaints and requests are noted."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    visit = Visit(page, base)
    page.on("console", lambda said: visit.errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: visit.errors.append(str(error)))
    page.on("request", lambda request: visit.requests.append(request.url))
    return visit


@pytest.fixture
def visit(browser: Any, report: Report) -> Iterator[Visit]:
    """A tab on the report as files; after the test it must have complained of nothing, and left nothing."""
    made = visit_of(browser, report.site.path.as_uri(), viewport={"width": 1280, "height": 900})
    yield made
    made.page.context.close()
    assert made.errors == []
    left = [each for each in made.requests if not each.startswith((made.base, "data:", "about:", "blob:"))]
    assert left == []
