"""Every page of the report in a browser: no error, no request elsewhere, accessible, readable on a phone."""

from __future__ import annotations

from typing import Any

import pytest

from runner.site.build import Report
from tests.browser.conftest import Visit, visit_of
from tests.support.site.made_up_store import DAMAGED, FAILED

pytestmark = pytest.mark.browser

EXPERIMENT = "experiments/made_up-smoke.html"
PAGES = {
    "start": "index.html",
    "experiment": EXPERIMENT,
    "recorded": "experiments/pt_table1-quick.html",
    "turned": "experiments/pt_figure2-quick.html",
    "compare": "compare.html",
    "curves": "compare.html#view=curves&metric=kl&task.record=4",
    "parallel": "compare.html#view=parallel&metric=kl&experiment=none",
    "run": "runs/{run}.html",
    "damaged": f"runs/{DAMAGED}.html",
    "failed": f"runs/{FAILED}.html",
}


def named(page: str, report: Report) -> str:
    run = next(run for run in report.index.runs.values() if run.done and run.experiment == "made_up")
    return PAGES[page].format(run=run.run_id)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_opens_without_an_error_and_is_accessible(
    visit: Visit, report: Report, page: str, scheme: str
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the extra 'browser' is missing"
    )
    visit.page.emulate_media(color_scheme=scheme)
    opened = visit.open(named(page, report))
    assert opened.locator("h1").count() == 1
    # Its own look at style sheets asks for files in a way that browsers refuse.
    found = axe.Axe().run(opened, options={"preload": False})
    serious = [
        (each["id"], each["impact"], [node["html"][:120] for node in each["nodes"][:3]])
        for each in found.response["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_a_phone(browser: Any, report: Report, page: str) -> None:
    phone = visit_of(browser, report.site.path.as_uri(), viewport={"width": 375, "height": 800})
    opened = phone.open(named(page, report))
    assert opened.evaluate("document.documentElement.scrollWidth") <= 375
    assert phone.errors == []
    opened.context.close()


def test_the_first_page_is_reached_by_keyboard(visit: Visit) -> None:
    page = visit.open("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(3):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Compare runs"
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare.html*")
    visit.ready()


def means(page: Any, table: str = "table.numbers >> nth=0") -> list[float]:
    """What the first column of numbers is sorted by, from the top."""
    cells = page.locator(f"{table} >> tbody tr td:nth-child(2)")
    return [float(each.get_attribute("data-order")) for each in cells.all()]


def test_a_table_is_sorted_by_a_click_and_by_a_key(visit: Visit) -> None:
    page = visit.open(EXPERIMENT)
    as_listed = means(page)
    head = page.locator("table.numbers >> nth=0 >> thead th", has_text="ours").first
    head.click()
    page.wait_for_selector("th[aria-sort=ascending]")
    assert means(page) == sorted(as_listed)
    head.locator("[role=button]").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("th[aria-sort=descending]")
    assert means(page) == sorted(as_listed, reverse=True)


def test_published_columns_and_intervals_can_be_hidden(visit: Visit) -> None:
    page = visit.open(EXPERIMENT)
    printed, margins = page.locator("td.published"), page.locator("td .margin").first
    assert printed.count() == 16
    page.get_by_label("published columns").uncheck()
    assert page.locator("td.published:visible").count() == 0
    assert page.locator("table.numbers >> nth=0 >> tbody tr >> nth=0 >> td").count() == 2
    page.get_by_label("published columns").check()
    assert page.locator("td.published:visible").count() == 16
    assert margins.is_visible()
    page.get_by_label("intervals", exact=True).uncheck()
    assert not margins.is_visible()


def drawn(page: Any, chart: str) -> list[dict[str, Any]]:
    """The traces that Plotly shows."""
    found: list[dict[str, Any]] = page.evaluate(
        f"""document.querySelector('[data-chart="{chart}"] .plot').data.map(
            (trace) => ({{name: trace.name, mode: trace.mode, x: [...trace.x], y: [...trace.y]}}))"""
    )
    return found


def axis(page: Any, chart: str, name: str) -> dict[str, Any]:
    """An axis as Plotly shows it."""
    found: dict[str, Any] = page.evaluate(
        f"""(({{type, title}}) => ({{type, title: title.text}}))(
            document.querySelector('[data-chart="{chart}"] .plot')._fullLayout.{name})"""
    )
    return found


def test_a_row_of_a_figure_can_be_hidden_and_axes_changed(visit: Visit, report: Report) -> None:
    page = visit.open(EXPERIMENT)
    box = page.locator('[data-chart="intervals"]')
    assert [trace["name"] for trace in drawn(page, "intervals")][:2] == ["DMALA", "PT-DMALA"]
    box.get_by_text("Rows", exact=True).click()
    box.get_by_label("PT-DMALA").uncheck()
    assert [trace["name"] for trace in drawn(page, "intervals")] == ["DMALA", "DMALA, step 80", "exact draws"]
    box.get_by_label("published values").check()
    assert "DMALA, published (v1)" in [trace["name"] for trace in drawn(page, "intervals")]
    box.get_by_label("logarithmic axis up").check()
    assert axis(page, "intervals", "yaxis")["type"] == "log"
    box.get_by_label("Show").select_option(index=1)
    assert axis(page, "intervals", "yaxis") == {"type": "linear", "title": "EMC (share of log M)<br>better →"}
    along = page.locator('[data-chart="curves"]')
    before = drawn(page, "curves")
    along.get_by_label("against").select_option("seconds")
    after = drawn(page, "curves")
    assert [trace["y"] for trace in after] == [trace["y"] for trace in before]
    assert after[-1]["x"] == pytest.approx([0.01, 0.02, 0.03, 0.04])
    assert axis(page, "curves", "xaxis")["title"].startswith("seconds")


def test_panels_of_figures_are_interactive(visit: Visit) -> None:
    page = visit.open(EXPERIMENT)
    box = page.locator('[data-chart="panels"]')
    plot = "document.querySelector('[data-chart=\"panels\"] .plot')"
    box.get_by_label("Show").select_option("share of the draws: DMALA, eight")
    assert page.evaluate(f"{plot}.data.map((trace) => [trace.type, trace.z.length])") == [["heatmap", 101]]
    assert not box.get_by_label("logarithmic axis up").is_visible()
    assert not box.get_by_text("Rows", exact=True).is_visible()
    page.evaluate(f"Plotly.Fx.hover({plot}, [{{xval: 50, yval: 50}}])")
    said = box.locator(".hoverlayer").text_content()
    assert "cell (50, 50)" in said
    assert "n = 1:" in said
    box.get_by_label("Show").select_option("EMC (share of log M): seeds")
    shown = f"{plot}.data.map((trace) => trace.legendgroup)"
    assert page.evaluate(shown)[:4] == ["DMALA", "DMALA", "PT-DMALA", "PT-DMALA"]
    box.get_by_text("Rows", exact=True).click()
    box.get_by_label("PT-DMALA").uncheck()
    assert "PT-DMALA" not in page.evaluate(shown)
    assert page.evaluate(f"{plot}._fullLayout.xaxis.type") == "linear"


def test_a_mark_is_explained_where_it_stands_and_below(visit: Visit) -> None:
    page = visit.open(EXPERIMENT)
    mark = page.locator("table.numbers >> nth=0 >> a.mark[title='What PT-DMALA is.']")
    assert mark.inner_text() == "a"
    mark.click()
    assert page.locator(":target").inner_text().endswith("What PT-DMALA is.")


def test_pointing_at_a_point_says_interval_and_seeds(visit: Visit) -> None:
    page = visit.open(EXPERIMENT)
    page.evaluate(
        """Plotly.Fx.hover(document.querySelector('[data-chart="intervals"] .plot'),
           [{curveNumber: 0, pointNumber: 0}])"""
    )
    said = page.locator('[data-chart="intervals"] .hoverlayer').text_content()
    assert "DMALA" in said
    assert "95 % interval" in said
    assert "n = 2" in said
