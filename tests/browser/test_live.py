"""The report that ``--watch`` serves: a page is shown anew when what it shows has changed."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from runner.site.build import Report
from runner.site.watch import server_of
from runner.store.run_store import Store
from runner.tools.bench.report.synthetic_runs import synthetic_records, write_run
from tests.browser.conftest import visit_of
from tests.support.site.made_up_store import METRICS

pytestmark = pytest.mark.browser


def test_a_served_page_follows_the_disk(browser: Any, report: Report, tmp_path: Path) -> None:
    shutil.copytree(report.root / "runs", tmp_path / "outputs" / "runs")
    served = Report(tmp_path / "outputs", tmp_path / "report", report.hydra)
    served.build()
    server = server_of(served, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    visit = visit_of(browser, f"http://127.0.0.1:{server.server_port}")
    try:
        page = visit.open("index.html")
        assert "31 runs" in page.locator(".lead").inner_text()
        # The page asks every two seconds; times of files are told to the second.
        page.wait_for_timeout(3000)
        config = {
            "seed": 7,
            "target": {"name": "mog"},
            "sampler": {"name": "dmala"},
            "task": {"name": "sample"},
            "scale": {"name": "quick"},
        }
        write_run(Store(served.root).run("00000000000000aa"), config, synthetic_records(500, METRICS))
        served.build()
        page.wait_for_function("document.querySelector('.lead').textContent.includes('32 runs')")
        assert visit.errors == []
    finally:
        page.context.close()
        server.shutdown()
        server.server_close()
