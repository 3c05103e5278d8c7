"""Makes the report, or brings it up to date: only what has changed on disk is read and written again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.site.content.compare_data import courses_script, runs_script, shard_of, t_quantiles
from runner.site.content.courses import courses_of
from runner.site.experiment_pages import ExperimentPages
from runner.site.index.metric_facts import MetricFacts, metric_facts
from runner.site.index.plans import version_of_code
from runner.site.index.store_index import Index
from runner.site.pages.assets import write_assets
from runner.site.pages.rendering import render
from runner.site.pages.run_page import write_run
from runner.site.pages.site_folder import SiteFolder
from runner.site.pages.start_page import command_name, write_start
from runner.store.digest import digest
from runner.store.run_store import Store


@dataclass(frozen=True)
class Built:
    """How many runs there are, and how many pages were made again."""

    runs: int
    pages: int


class Report:
    """The report of one output root.

    Args:
        root: where the results are.
        to: the folder of the report.
        hydra: overrides of Hydra itself, which say where else experiments are.

    Raises:
        UserError: if the folder is not ours.
    """

    def __init__(self, root: Path, to: Path, hydra: Sequence[str] = ()) -> None:
        self.root, self.hydra = root, list(hydra)
        self.site = SiteFolder(to)
        self.index = Index.load(self.site.index, version_of_code())
        self._fresh = not self.index.pages

    def build(self) -> Built:
        """Makes every page that is not as the disk is."""
        changed = self.index.update(Store(self.root))
        runs = self.index.runs
        facts = metric_facts(sorted({name for run in runs.values() for name in run.metrics}), self.index)
        if self._fresh:
            write_assets(self.site)
            self.site.write("compare.html", render("compare.html", page="compare", up=""))
        experiments = ExperimentPages(self.root, self.hydra, self.index, self.site)
        experiments.write()
        pages = experiments.written + self._runs(changed, facts, experiments.page_of)
        if changed or self._fresh:
            commands = {str(run.about.get("command")) for run in runs.values()}
            names = {command: command_name(command) for command in commands}
            shards = sorted(self.index.kept.get("shards", []))
            script = runs_script(list(runs.values()), facts, names, shards, t_quantiles(self.index))
            self.site.write("data/runs.js", script)
        write_start(str(self.root), experiments.cards, runs, set(experiments.page_of), self.site)
        self.index.save(self.site.index)
        self._fresh = False
        return Built(len(runs), pages)

    def _runs(self, changed: set[str], facts: Mapping[str, MetricFacts], page_of: Mapping[str, str]) -> int:
        """Writes the pages of runs that changed, and the courses beside them; how many."""
        store, pages, written = Store(self.root), self.index.pages, 0
        shards = set()
        for run_id, run in self.index.runs.items():
            name, page = f"runs/{run_id}.html", page_of.get(run_id, "")
            made_of = digest({"run": [run.stamp, run.status, page]})
            if pages.get(name) == made_of:
                continue
            courses = courses_of(store.run(run_id).path / "metrics.csv") if run.done else {}
            write_run(run, store.run(run_id), courses, facts, page, self.site)
            pages[name] = made_of
            written += 1
            if any(len(course.step) > 1 for course in courses.values()):
                shards.add(shard_of(run_id))
        for run_id in changed - self.index.runs.keys():
            name = f"runs/{run_id}.html"
            self.site.remove(name)
            pages.pop(name, None)
            shards.add(shard_of(run_id))
        for shard in sorted(shards):
            own = [
                run_id for run_id, run in self.index.runs.items() if shard_of(run_id) == shard and run.done
            ]
            found = {run_id: courses_of(store.run(run_id).path / "metrics.csv") for run_id in own}
            self.site.write(f"data/courses/{shard}.js", courses_script(shard, found))
        self.index.kept["shards"] = sorted({*self.index.kept.get("shards", []), *shards})
        return written
