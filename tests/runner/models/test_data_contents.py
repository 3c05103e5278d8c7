"""Two data files of one name are two problems: in what is written of their runs, and in their notes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from runner.config.compose import compose
from runner.config.data.tabular import load_tabular
from runner.config.run_settings import CONTENT, flat_settings
from runner.models.model_files import save_model
from runner.report.selection.grid import varied_keys
from runner.tasks.run_identity import run_ids, written_run
from targets import RBM
from tests.support.targets.small_tables import COMPAS_HEADER, compas_rows, write

FILE = "compas_scores_two_years.csv"
NETWORK = ("target=binary_bnn", "target.tabular=compas", "sampler=dmala", "data.verify=false")


def test_tables_that_are_not_known_are_told_apart_in_written_runs(tmp_path: Path) -> None:
    found, known = set(), written_run(compose(["target=binary_bnn", "sampler=dmala"]))
    for content in ("one", "two"):
        (tmp_path / FILE).write_text(content)
        written = written_run(compose([*NETWORK, f"data.root={tmp_path}"]))
        found.add(flat_settings(written)["target.data.content"])
    assert len(found) == 2
    assert CONTENT not in known
    alike = flat_settings({**known, "target": written["target"]})
    assert varied_keys([alike, flat_settings({**known, **written})]) == ["target.data.content"]


def test_a_file_of_images_that_is_replaced_is_told_apart(tmp_path: Path) -> None:
    file, found = tmp_path / "x.npz", set()
    for value in (0, 1):
        np.savez(file, train=np.full((9, 4), value), test=np.full((9, 4), value))
        config = compose(["target=rbm", f"target.dataset={file}", "target.n_hidden=2", "sampler=dmala"])
        settings = flat_settings(written_run(config))
        found.add((settings["target.dataset.content"], run_ids(config, "cpu", [0])[0]))
    assert len({content for content, _ in found}) == len({run for _, run in found}) == 2


def test_a_saved_model_that_is_replaced_is_told_apart(tmp_path: Path) -> None:
    """Where a run samples from it, and where it is evaluated; so is the file of images of an evaluation."""
    model, images, found = tmp_path / "model.safetensors", tmp_path / "x.npz", set()
    for value in (0, 1):
        save_model(model, RBM(4, 2, seed=value), {})
        np.savez(images, train=np.full((9, 4), value), test=np.full((9, 4), value))
        sampled = compose(["target=rbm", f"target.model={model}", "sampler=dmala"])
        evaluated = compose(["task=evaluate", f"model={model}", f"task.dataset={images}"])
        settings = flat_settings(written_run(evaluated))
        found.add((flat_settings(written_run(sampled))["target.model.content"], "sampled"))
        found |= {(settings[f"{key}.content"], key) for key in ("target.model", "task.dataset")}
    assert len(found) == 6
    assert len({digest for digest, _ in found}) == 4  # the weights, wherever they are read


def test_numbers_from_a_table_that_is_not_known_have_a_note(tmp_path: Path) -> None:
    write(tmp_path / FILE, [COMPAS_HEADER, *compas_rows(4937 + 1235)])
    data = load_tabular("compas", 0, tmp_path, 50, verify=False)
    said, budget = str(data.note).split("; ")
    assert said.startswith(f"not the known file {FILE} (its SHA-256 begins with ")
    assert budget.startswith("budget: 50 of ")
