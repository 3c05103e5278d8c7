"""The pages of all experiments, made again where one of their files or runs has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import conf
from runner.config.overrides import EXPERIMENT, Names
from runner.execution.errors import UserError
from runner.files.plain_yaml import plain_yaml
from runner.site.content.experiment_places import Place, places_of
from runner.site.index.plans import planned_ids
from runner.site.index.store_index import Index
from runner.site.pages.making_command import starting
from runner.site.pages.site_folder import SiteFolder
from runner.site.pages.start_page import time_left
from runner.store.run_store import Store
from runner.store.short_hash import short_hash
from runner.store.under_way import grouped_by_process


@dataclass
class ExperimentPages:
    """Writes the pages of experiments.

    Attributes:
        cards: what the start page says of each experiment.
        places: the experiments that a run is of, at their scales, by the run's id.
        written: pages that were made again.
    """

    root: Path
    hydra: Sequence[str]
    index: Index
    site: SiteFolder
    cards: list[dict[str, Any]] = field(default_factory=list)
    places: dict[str, list[Place]] = field(default_factory=dict)
    written: int = 0

    def write(self) -> None:
        """Writes every page that is not as the disk is, and removes those of experiments without results."""
        names, shown = Names(self.hydra), []
        places = places_of(names.options(EXPERIMENT), self.root, self.index.runs.values())
        for name, own in places.items():
            if not own:
                self.cards.append(self._unmeasured(name, names))
            for place in own:
                try:
                    self._write(place, [other for other in own if other != place])
                    shown.append(place.key)
                except UserError as error:  # an experiment of the user's own without a table
                    said = {"scale": place.scale, "why": str(error)}
                    self.cards.append(self._unmeasured(name, names) | said)
        self._remove_others(shown)

    def _remove_others(self, shown: Collection[str]) -> None:
        """Removes what the site has of other experiments than those `shown`, by their keys."""
        pages = {f"experiments/{key}.html" for key in shown}
        for name in [each for each in self.index.pages if each.startswith("experiments/")]:
            if name not in pages:
                del self.index.pages[name]
        cards = self.index.kept["cards"] = {
            key: card for key, card in self.index.kept.get("cards", {}).items() if key in shown
        }
        self.site.keep_only("experiments", [f"{key}.html" for key in shown])
        self.site.keep_only("thumbnails", [Path(card["thumbnail"]).name for card in cards.values()])
        self.site.keep_only("files", shown)

    def _write(self, place: Place, others: Sequence[Place]) -> None:
        ids, why = self._ids(place)
        runs = self.index.runs
        own = [runs[run_id] for run_id in ids if run_id in runs]
        counts = Counter(run.status for run in own)
        counts["missing"] += len(ids) - len(own)
        store = Store(self.root)
        at_work = grouped_by_process(store.run(run.run_id) for run in own if run.status == "running")
        left = time_left(counts, [run for run in own if run.done], len(at_work))
        made_of = short_hash(
            {
                "files": place.stamps(),
                "runs": [[run.run_id, run.stamp, run.status] for run in own],
                "others": [other.key for other in others],
                "left": left,
                "why": why,
            }
        )
        name = f"experiments/{place.key}.html"
        kept = self.index.kept.setdefault("cards", {})
        is_there = (self.site.path / name).is_file()  # another report may have removed it
        if self.index.pages.get(name) != made_of or place.key not in kept or not is_there:
            # Imported only now: what they import takes seconds.
            from runner.site.content.experiment_data import experiment_data
            from runner.site.pages.experiment_page import write_experiment

            data = experiment_data(place, self.root, self.hydra, self.index, bool(ids or why))
            kept[place.key] = write_experiment(data, runs, others, self.site, left, self.hydra)
            self.index.pages[name] = made_of
            self.written += 1
        self.cards.append(kept[place.key])
        for run_id in ids:
            self.places.setdefault(run_id, []).append(place)

    def _ids(self, place: Place) -> tuple[list[str], str]:
        """The runs of an experiment, where any of them is on disk; or else why they are not known.

        Experiments may share runs, which say of one alone that they are of it.
        """
        runs = self.index.runs
        own = any(run.experiment == place.experiment and run.scale == place.scale for run in runs.values())
        if not own and not place.rendered:
            return [], ""
        try:
            ids = planned_ids(place.experiment, place.overrides(self.hydra, self.root), self.index)
        except UserError as error:
            return [], str(error)
        return (ids, "") if own or any(run_id in runs for run_id in ids) else ([], "")

    def _unmeasured(self, name: str, names: Names) -> dict[str, Any]:
        """What the start page says of an experiment without any result."""
        titles, why = self.index.kept.setdefault("titles", {}), ""
        if name not in titles:
            try:
                titles[name] = _title(name, names)
            except UserError as error:
                why = str(error)
        heading, _, rest = titles.get(name, name).partition(": ")
        nothing = dict.fromkeys(("scale", "href", "source", "result", "commit", "device", "left"), "")
        return {
            **nothing,
            "why": why,
            "experiment": name,
            "title": rest,
            "heading": heading,
            "counts": {},
            "thumbnail": "",
            "height": 0,
            "command": starting(name, self.root, self.hydra),
        }


def _title(name: str, names: Names) -> str:
    """The title of an experiment's table.

    Raises:
        UserError: if an experiment of the user's own cannot be read.
    """
    own = Path(conf.__path__[0]) / EXPERIMENT / f"{name}.yaml"
    # Reading the file takes a hundredth of composing it.
    content = plain_yaml(own.read_bytes()) if own.is_file() else names.composed(f"+{EXPERIMENT}={name}")
    table = content.get("table")
    return str((table.get("title") if isinstance(table, Mapping) else None) or name)
