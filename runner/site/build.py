"""Makes the report, or brings it up to date: only what has changed on disk is read and written again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.report.figures.metric_axis import Quantity
from runner.site.content.compare_data import curves_script, runs_script, shard_of, t_quantiles
from runner.site.content.curves import Curve, curves_of
from runner.site.content.experiment_places import Place
from runner.site.experiment_pages import ExperimentPages
from runner.site.index.known_quantities import known_quantities
from runner.site.index.plans import version_of_code
from runner.site.index.store_index import Index
from runner.site.pages.assets import write_assets
from runner.site.pages.rendering import render
from runner.site.pages.run_page import write_run_page
from runner.site.pages.site_folder import SiteFolder
from runner.site.pages.start_page import command_name, write_start
from runner.store.run_store import Store
from runner.store.short_hash import short_hash

RUNS = "data/runs.js"
"""What the page Compare reads."""


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
        self.index = Index.load(self.site.index, version_of_code(hydra))
        self._fresh = not self.index.pages

    def build(self) -> Built:
        """Makes every page that is not as the disk is."""
        changed = self.index.update(Store(self.root))
        runs = self.index.runs
        known = known_quantities(sorted({name for run in runs.values() for name in run.metrics}), self.index)
        if self._fresh:
            write_assets(self.site)
            self.site.write("compare.html", render("compare.html", page="compare", up=""))
        experiments = ExperimentPages(self.root, self.hydra, self.index, self.site)
        experiments.write()
        pages = experiments.written + self._runs(changed, known, experiments.places)
        places = experiments.places
        made_of = short_hash({run_id: [place.key for place in own] for run_id, own in places.items()})
        if changed or self._fresh or self.index.pages.get(RUNS) != made_of:
            commands = dict.fromkeys(str(run.about.get("command")) for run in runs.values())
            names = {command: command_name(command) for command in commands}
            shards = sorted(self.index.kept.get("shards", []))
            t = t_quantiles(self.index)
            self.site.write(RUNS, runs_script(list(runs.values()), known, names, shards, t, places))
            self.index.pages[RUNS] = made_of
        write_start(str(self.root), experiments.cards, runs, set(places), self.site)
        self.index.save(self.site.index)
        self._fresh = False
        return Built(len(runs), pages)

    def _runs(
        self, changed: set[str], known: Mapping[str, Quantity], places: Mapping[str, Sequence[Place]]
    ) -> int:
        """Writes the pages of runs that changed, and the curves beside them; how many pages."""
        pages, runs = self.index.pages, self.index.runs
        stale: dict[str, dict[str, str]] = {}
        there = {path.stem for path in (self.site.path / "runs").glob("*.html")}
        for run_id, run in runs.items():
            keys = [place.key for place in places.get(run_id, ())]
            made_of = short_hash({"run": [run.stamp, run.status, keys]})
            if pages.get(f"runs/{run_id}.html") != made_of or run_id not in there:
                stale.setdefault(shard_of(run_id), {})[run_id] = made_of
        for run_id in changed - runs.keys():
            pages.pop(f"runs/{run_id}.html", None)
            stale.setdefault(shard_of(run_id), {})
        self.site.keep_only("runs", {f"{run_id}.html" for run_id in runs})
        store = Store(self.root)
        for shard, own in sorted(stale.items()):
            read = {run_id: self._curves(run_id) for run_id in own}
            for run_id, made_of in own.items():
                own_places = places.get(run_id, ())
                write_run_page(runs[run_id], store.run(run_id), read[run_id], known, own_places, self.site)
                pages[f"runs/{run_id}.html"] = made_of
            self._shard(shard, read)
        return sum(map(len, stale.values()))

    def _shard(self, shard: str, read: Mapping[str, Mapping[str, Curve]]) -> None:
        """Writes the file of the curves of a few runs; `read` has those that are known already."""
        own = [run_id for run_id in self.index.runs if shard_of(run_id) == shard]
        found = {run_id: read[run_id] if run_id in read else self._curves(run_id) for run_id in own}
        self.site.write(f"data/curves/{shard}.js", curves_script(shard, found))
        self.index.kept["shards"] = sorted({*self.index.kept.get("shards", []), shard})

    def _curves(self, run_id: str) -> dict[str, Curve]:
        """The metrics along a run; empty unless it is done."""
        if not self.index.runs[run_id].done:
            return {}
        return curves_of(Store(self.root).run(run_id).path / "metrics.csv")
