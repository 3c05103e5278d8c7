"""Pictures of a model that trains: what W&B's client sends of its chains at each recorded point."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runner.__main__ import main as run
from runner.store.arrays.array_files import DRAWS, load_images
from runner.store.arrays.pictures import image_of
from tests.support.wandb_server.server import WandbServer

Image = pytest.importorskip("PIL.Image")

DIGITS = ("scale=smoke", "target=rbm", "target.dataset=digits", "target.n_hidden=4")
LEARN = (
    *("task=learn", "sampler=dula", "sampler.step_size=0.5", "task.iterations=4", "task.cd_steps=1"),
    *("task.chains=20", "task.ais.temperatures=20", "task.ais.chains=10", "task.ais.draw_steps=5"),
)
SAMPLE = (
    *("target.training.cd_steps=1", "target.training.iterations=4", "target.ground_truth.steps=60"),
    *("target.ground_truth.chains=20", "target.ground_truth.keeps=2", "sampler=rbm_gibbs"),
    *("metric=[log_mmd,jump]", "task.steps=20", "task.chains=4", "seed=[0,1]"),
)


def sheets(server: WandbServer, run_id: str, axis: str, name: str) -> dict[int, Any]:
    """The pictures of a run by the step of `axis`, as they were uploaded."""
    sent = server.run(run_id)
    rows = {row[axis]: row for row in sent.history if name in row}
    return {
        step: np.asarray(Image.open(io.BytesIO(sent.files[row[name]["path"]]))) for step, row in rows.items()
    }


def test_a_model_that_is_learned_shows_its_chains_at_every_recorded_point(
    tmp_path: Path, server: WandbServer
) -> None:
    command = [*DIGITS, *LEARN, "logger=wandb", "logger.system=false", f"output_root={tmp_path}"]
    assert run(command) == 0
    ((run_id, sent),) = server.project.runs.items()
    found = sheets(server, run_id, "step", "draws")
    assert list(found) == [row["step"] for row in sent.history] == [1, 2, 3, 4]
    stored = load_images(tmp_path / "runs" / run_id, DRAWS)
    assert stored is not None
    assert np.array_equal(found[4], np.asarray(image_of(stored)))
    assert not np.array_equal(found[3], found[4])
    assert found[1].shape == (8 * (8 + 2) + 2, 8 * (8 + 2) + 2)
    assert list(sheets(server, run_id, "step", "images")) == [4]


@pytest.mark.slow
def test_a_model_that_runs_wait_for_shows_its_chains_in_each_of_them(
    tmp_path: Path, server: WandbServer
) -> None:
    command = [*DIGITS, *SAMPLE, "logger=wandb", "logger.system=false", f"output_root={tmp_path}"]
    assert run(command) == 0
    one, other = (
        sheets(server, name, "training/iteration", "training/draws") for name in server.project.runs
    )
    assert list(one) == list(other) == [1, 2, 3]
    assert all(np.array_equal(one[step], other[step]) for step in one)
