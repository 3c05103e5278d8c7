"""The tasks `autoencode` and `classify`: images made once and shared, networks kept, resumed, refused."""

from __future__ import annotations

import csv
import functools
import itertools
import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure
from omegaconf import OmegaConf
from torch import nn

from metrics.applications.lenet5 import LeNet5
from runner.config.datasets import load_dataset
from runner.execution import signals
from runner.problem.problems import Problems
from runner.report.draw_figures import draw_figure
from runner.report.published import published_numbers
from runner.report.stored_results import Results, Run, gather
from runner.report.table_shape import table_shape
from runner.store.draw_files import load_images
from runner.store.run_store import Store
from runner.sweep.job_runner import compute
from runner.sweep.jobs import Job, experiment_jobs, jobs_of, requested
from runner.table import experiment_shape
from runner.tasks.images import sampled_images as images_module
from runner.tasks.images.fitting import Fit, FitSettings, built
from runner.tasks.sample import Sampling
from tests.support.commands import Call, refused

DIGITS = (
    *("scale=smoke", "target=rbm", "target.dataset=digits", "target.n_hidden=4"),
    *("target.training.iterations=5", "target.ground_truth.steps=10", "target.ground_truth.keeps=2"),
    *("target.ground_truth.chains=10", "sampler=dmala", "sampler.step_size=0.5"),
    *("task.samples=130", "task.chains=20", "task.thinning=4"),
)
AUTOENCODE = (
    *("task=autoencode", "task.occlusion=2", "task.autoencoder.networks=2", "task.autoencoder.epochs=2"),
    *DIGITS,
)
CLASSIFY = ("task=classify", "task.classifier.epochs=2", *DIGITS)
TIMES = ("fitting_seconds", "sampling_seconds", "classifier_seconds")


def one(pattern: str, root: str | Path = "outputs") -> Path:
    (path,) = Path(root).glob(pattern)
    return path


def summary(root: str | Path = "outputs") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(one("runs/*/summary.json", root).read_text())
    return found


def values(root: str | Path = "outputs") -> dict[str, float]:
    """What the one run under `root` measured, without times."""
    return {name: value for name, value in summary(root)["metrics"].items() if name not in TIMES}


def rows(root: str | Path) -> list[tuple[str, ...]]:
    """The rows of all runs, without times and ids."""
    found = []
    for path in Path(root).glob("runs/*/metrics.csv"):
        for row in csv.DictReader(path.read_text().splitlines()):
            if row["metric"] not in TIMES:
                found.append((row["seed"], row["step"], row["metric"], row["value"]))
    return sorted(found)


def test_both_tasks_share_the_images_of_one_sampling(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(*AUTOENCODE).status == 0
    found = summary()
    assert found["target"] == "rbm/digits"
    assert found["sampler"] == "dmala"
    assert found["steps"] == 28 == found["evaluations"]
    assert found["exact"] is True
    assert any("split of our own" in note for note in found["notes"])
    assert {"mse", "psnr", "ssim", "pixel_log_likelihood", "mse_sd", "acceptance", "truth_rhat"} <= set(
        found["metrics"]
    )
    pixels = load_images(one("images/*"))
    assert pixels is not None
    assert pixels.shape == (130, 8, 8)
    assert found["metrics"]["pixel_mean"] == pytest.approx(pixels.mean())

    def again(*arguments: Any) -> None:
        raise AssertionError("the images were made again")

    networks = {path: path.stat().st_mtime_ns for path in Path("outputs/images").rglob("*.safetensors")}
    assert len(networks) == 2
    monkeypatch.setattr(images_module, "_make", again)
    for change in ("task.input=noisy", "task.input=occluded", "task.noise=0.2"):
        assert call(*AUTOENCODE, change).status == 0
    assert {path: path.stat().st_mtime_ns for path in networks} == networks, "a network was fitted again"
    assert call(*CLASSIFY).status == 0
    assert len(list(Path("outputs/images").iterdir())) == 1
    assert len(list(Path("outputs/runs").iterdir())) == 5
    assert len(list(Path("outputs/models").iterdir())) == 1


def test_the_images_are_the_draws_of_the_task_sample(call: Call) -> None:
    """Their last 20 are where the chains of the same run end."""
    sample = tuple(line for line in DIGITS if not line.startswith(("task.samples", "task.thinning")))
    assert call(*AUTOENCODE, "task.samples=140").status == 0
    pixels = load_images(one("images/*"))
    ended = call("task=sample", *sample, "task.steps=28", "task.burn_in=0", "metric=log_mmd", "seed=0")
    assert ended.status == 0
    last = load_images(next(path.parent for path in Path("outputs/runs").glob("*/draws.npz")))
    assert pixels is not None
    assert last is not None
    np.testing.assert_array_equal(pixels[-20:], last)


def test_what_the_test_shows_makes_the_difference(call: Call) -> None:
    for shown in ("clean", "noisy", "occluded"):
        assert call(*AUTOENCODE, f"task.input={shown}", f"output_root={shown}").status == 0
    assert len({values(shown)["mse"] for shown in ("clean", "noisy", "occluded")}) == 3
    assert len({values(shown)["pixel_mean"] for shown in ("clean", "noisy", "occluded")}) == 1
    assert call(*AUTOENCODE, "task.input=noisy", "task.noise=0", "output_root=still").status == 0
    assert values("still") == values("clean")


def test_seeds_are_computed_one_by_one_as_alone(call: Call) -> None:
    assert call(*AUTOENCODE, "seed=[5,3]", "output_root=together").status == 0
    for seed in (3, 5):
        assert call(*AUTOENCODE, f"seed={seed}", "output_root=alone").status == 0
    assert rows("together") == rows("alone")
    assert {row[0] for row in rows("alone")} == {"3", "5"}
    assert len({row[3] for row in rows("alone") if row[2] == "mse"}) == 2


@pytest.mark.parametrize("task", [AUTOENCODE, CLASSIFY], ids=["autoencode", "classify"])
def test_stopped_anywhere_and_repeated(
    call: Call, monkeypatch: pytest.MonkeyPatch, task: tuple[str, ...]
) -> None:
    """A signal after the first steps of the sampling, then one in the first fit, then to the end."""
    fine = (*task, "checkpoint.steps=7", "checkpoint.seconds=0")
    assert call(*fine, "output_root=whole").status == 0
    state_dict, advance = Sampling.state_dict, Fit.advance
    saved_at: list[int] = []
    epochs: list[int] = []

    def stopped_sampling(self: Sampling) -> dict[str, Any]:
        saved_at.append(self.step)
        if len(saved_at) == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        return state_dict(self)

    def stopped_fit(self: Fit[Any]) -> None:
        advance(self)
        epochs.append(self.epoch)
        if len(epochs) == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Sampling, "state_dict", stopped_sampling)
    monkeypatch.setattr(Fit, "advance", stopped_fit)
    assert call(*fine).status == 75
    assert one("images/*/checkpoint.pt")
    signals.forget()
    assert call(*fine).status == 75
    assert saved_at == [7, 14, 21, 28], "the sampling did not go on from where it was"
    signals.forget()
    assert len(list(Path("outputs").glob("*/**/*.pt"))) == 1, "the fit left no checkpoint"
    assert call(*fine).status == 0
    assert epochs[:2] == [1, 2], "the fit did not go on from where it was"
    assert values() == values("whole")
    assert not list(Path("outputs").glob("*/**/*.pt"))


def test_what_is_damaged_is_made_again(call: Call) -> None:
    assert call(*AUTOENCODE).status == 0
    before = values()
    first, second = sorted(Path("outputs/images").rglob("*.safetensors"))
    first.write_bytes(first.read_bytes()[:-9])
    second.write_bytes(b"no network")
    one("runs/*/summary.json").unlink()
    ended = call(*AUTOENCODE)
    assert ended.status == 0
    assert ended.err.count("cannot be read") == 2
    assert values() == before

    draws = one("images/*/draws.npz")
    draws.write_bytes(draws.read_bytes()[:50])
    one("runs/*/summary.json").unlink()
    assert call(*AUTOENCODE).status == 0
    assert values() == before

    checkpoint = one("images/*") / "checkpoint.pt"
    draws.unlink()
    checkpoint.write_bytes(b"no checkpoint")
    one("runs/*/summary.json").unlink()
    ended = call(*AUTOENCODE)
    assert ended.status == 0
    assert "checkpoint" in ended.err
    assert values() == before


def test_training_images_stand_in_for_a_samplers(call: Call) -> None:
    assert call(*CLASSIFY, "task.images=training", "task.samples=600").status == 0
    found = summary()
    assert found["sampler"] == "training images"
    assert (found["steps"], found["seconds"]) == (0, 0.0)
    pixels = load_images(one("images/*"))
    assert pixels is not None
    train = {tuple(image) for image in load_dataset("digits", None, None).train.tolist()}
    assert {tuple(image) for image in pixels.reshape(600, -1).tolist()} <= train
    assert not list(Path("outputs").glob("models/*/model.safetensors")), "a model was trained for nothing"
    shares = [found["metrics"][f"class_{label}"] for label in range(10)]
    real = [found["metrics"][f"real_{label}"] for label in range(10)]
    assert sum(shares) == pytest.approx(1)
    assert sum(real) == pytest.approx(1)
    assert found["metrics"]["class_tv"] == pytest.approx(
        sum(abs(a - b) for a, b in zip(shares, real, strict=True)) / 2
    )


def test_a_classifier_learns_the_digits_and_is_fitted_once(call: Call) -> None:
    """Fixed seed: 0.891 of the 256 test images after 12 epochs, and a distance of 0.051 of the classes."""
    fit = (*CLASSIFY, "task.classifier.epochs=12", "task.images=training", "task.samples=1285")
    assert call(*fit).status == 0
    found = values()
    assert found["classifier_accuracy"] > 0.85
    assert found["class_tv"] < 0.1
    path = one("classifiers/*.safetensors")
    written = path.stat().st_mtime_ns
    assert call(*fit, "seed=1").status == 0
    assert path.stat().st_mtime_ns == written


@pytest.mark.parametrize("task", [AUTOENCODE, CLASSIFY], ids=["autoencode", "classify"])
@pytest.mark.usefixtures("call")
def test_a_worker_computes_with_the_threads_of_the_run(task: tuple[str, ...]) -> None:
    """A worker has no preflight, and another number of threads rounds a fit differently."""
    (job,) = jobs_of(requested(list(task), multirun=False))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert not compute(job, [], Problems()).failed
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


@pytest.mark.data
@pytest.mark.slow
def test_the_classifier_of_the_real_digits_is_as_good_as_the_papers(call: Call) -> None:
    """The paper's LeNet-5 finds 98.85 % of the test images after 10 epochs."""
    if "DATA_ROOT" not in os.environ:
        pytest.skip("DATA_ROOT is not set")
    fit = (*DIGITS, "task=classify", "target.dataset=mnist", "task.images=training")
    assert call(*fit).status == 0
    assert values()["classifier_accuracy"] >= 0.985


class _Line(nn.Module):
    """One weight a pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 1)


def test_weights_are_drawn_from_their_seed_alone() -> None:
    before = torch.get_rng_state()
    one_, same, other = (
        built(lambda: LeNet5(10), seed, torch.float32, torch.device("cpu")) for seed in (1, 1, 2)
    )
    assert torch.equal(torch.get_rng_state(), before), "the global generator was used"
    for name, weight in one_.state_dict().items():
        assert torch.equal(weight, same.state_dict()[name])
        assert not torch.equal(weight, other.state_dict()[name])
        assert bool(weight.isfinite().all())
    first = one_.state_dict()["features.0.weight"]
    assert float(first.abs().max()) <= 1 / 5
    assert float(first.std()) == pytest.approx(1 / 5 / 3**0.5, rel=0.2)


def test_a_fit_sees_every_example_once_an_epoch_and_goes_on_where_it_was() -> None:
    inputs = torch.randn(10, 3, generator=torch.Generator().manual_seed(0))

    def fit() -> tuple[Fit[_Line], list[list[int]]]:
        network = built(_Line, 0, torch.float32, torch.device("cpu"))
        seen: list[list[int]] = []

        def loss(network: _Line, places: torch.Tensor) -> torch.Tensor:
            seen.append(places.tolist())
            return (network.layer(inputs[places]).squeeze(-1) - inputs[places].sum(-1)).square().mean()

        return Fit(network, loss, 10, FitSettings(epochs=4, batch=4, learning_rate=0.1), 7), seen

    whole, seen = fit()
    losses = []
    for _ in range(4):
        whole.advance()
        losses.append(whole.loss)
    assert [len(places) for places in seen] == [4, 4, 2] * 4
    epochs = [list(itertools.chain(*seen[3 * epoch : 3 * epoch + 3])) for epoch in range(4)]
    assert all(sorted(epoch) == list(range(10)) for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert losses[-1] < losses[0]
    half, _ = fit()
    half.advance()
    half.advance()
    rest, _ = fit()
    rest.load_state_dict(half.state_dict())
    rest.advance()
    rest.advance()
    assert rest.epoch == 4
    assert rest.loss == whole.loss
    for name, weight in rest.network.state_dict().items():
        assert torch.equal(weight, whole.network.state_dict()[name])


WHOLE = "must be a whole number of at least"
SETTINGS = [
    ("task.samples=0", f"task.samples {WHOLE} 2, 0 was given."),
    ("task.samples=few", f"task.samples {WHOLE} 2, 'few' was given."),
    ("task.samples=100", "task.samples must be at least task.autoencoder.batch=128, 100 was given."),
    ("task.thinning=0", f"task.thinning {WHOLE} 1, 0 was given."),
    ("task.thinning=-5", f"task.thinning {WHOLE} 1, -5 was given."),
    ("task.thinning=2.5", f"task.thinning {WHOLE} 1, 2.5 was given."),
    ("task.chains=0", f"task.chains {WHOLE} 1, 0 was given."),
    ("task.burn_in=-1", f"task.burn_in {WHOLE} 0, -1 was given."),
    ("task.start=here", "task.start must be one of one_mode, random, uniform, 'here' was given"),
    (
        "task.images=sampled",
        "task.images must be one of sampler, training, 'sampled' was given; did you mean",
    ),
    (
        "task.images=training task.samples=2000",
        "task.samples must not exceed the 1285 training images of digits",
    ),
    ("task.input=noise", "task.input must be one of clean, noisy, occluded, 'noise' was given"),
    ("task.noise=-0.1", "task.noise must be a number from 0 to 1, -0.1 was given."),
    ("task.noise=nan", "task.noise must be a number from 0 to 1, nan was given."),
    ("task.occlusion=0", f"task.occlusion {WHOLE} 1, 0 was given."),
    ("task.occlusion=9", "task.occlusion must fit into images of 8 x 8 pixels, 9 was given."),
    ("task.autoencoder.networks=0", f"task.autoencoder.networks {WHOLE} 1, 0 was given."),
    ("task.autoencoder.epochs=0", f"task.autoencoder.epochs {WHOLE} 1, 0 was given."),
    ("task.autoencoder.batch=none", f"task.autoencoder.batch {WHOLE} 1, 'none' was given."),
    ("task.autoencoder.learning_rate=0", "task.autoencoder.learning_rate must be a positive number, 0 was"),
    ("task.autoencoder=null", "task.autoencoder must be a group of keys, None was given."),
    ("task.sample=3", "did you mean 'task.samples'?"),
    ("model=somewhere", "model=somewhere is for task=evaluate"),
    ("sampler.step_size=0", "sampler.step_size must be"),
    ("target.dataset=mnsit", "did you mean 'mnist'?"),
]


@pytest.mark.parametrize(("given", "sentence"), SETTINGS, ids=[given for given, _ in SETTINGS])
def test_a_setting_is_refused(call: Call, given: str, sentence: str) -> None:
    said = refused(call, " ".join([*AUTOENCODE, given]))
    assert sentence in said
    assert not list(Path("outputs").glob("images/*"))
    assert not list(Path("outputs").glob("models/*"))


@pytest.mark.parametrize("task", ["autoencode", "classify"])
@pytest.mark.parametrize("target", ["bernoulli4", "mog"])
def test_a_target_that_learned_no_images_is_refused(call: Call, task: str, target: str) -> None:
    said = refused(call, f"task={task} target={target} sampler=dmala")
    assert f"task={task} needs a target that learned images, such as rbm; target={target} did not." in said


def test_a_classifier_needs_labels_and_settings(call: Call) -> None:
    images = np.zeros((200, 8, 8), dtype=np.uint8)
    images[::2, ::3] = 1
    np.savez("mine.npz", train=images, test=images)
    own = (*CLASSIFY, "target.dataset=mine.npz")
    assert "The data set mine.npz has no labels here" in refused(call, " ".join(own))
    said = refused(call, " ".join([*CLASSIFY, "task.classifier.epochs=0"]))
    assert f"task.classifier.epochs {WHOLE} 1, 0 was given." in said
    assert call(*AUTOENCODE, "target.dataset=mine.npz").status == 0


def test_images_of_odd_sides_are_refused(call: Call) -> None:
    images = np.zeros((200, 6, 8), dtype=np.uint8)
    images[::2, ::3] = 1
    np.savez("odd.npz", train=images, test=images)
    said = refused(call, " ".join([*AUTOENCODE, "target.dataset=odd.npz"]))
    assert "needs images whose sides are multiples of 4 pixels, those of" in said
    assert "are 6 x 8." in said


ROWS = ["BG-1", "DMALA", "DULA", "EDMALA", "EDULA", "HB-10-1", "block Gibbs, layers", "training images"]
INPUTS = ("clean", "noisy", "occluded")
COLUMNS = {
    ("edlp_table1", "smoke"): [f"digits, {shown}" for shown in INPUTS],
    ("edlp_table1", "quick"): [f"MNIST, {shown}" for shown in INPUTS],
    ("edlp_table1", "paper"): [f"MNIST, {shown}" for shown in INPUTS],
    ("edlp_figure14", "smoke"): ["digits"],
    ("edlp_figure14", "quick"): ["MNIST"],
    ("edlp_figure14", "paper"): ["MNIST"],
}
SEEDS = {"smoke": 2, "quick": 3, "paper": 5}
THINNING = {"smoke": 20, "quick": 200, "paper": 1000}


@functools.cache
def jobs_at(experiment: str, scale: str) -> list[Job]:
    return experiment_jobs(experiment, [f"scale={scale}"])


@pytest.mark.parametrize(("experiment", "scale"), list(COLUMNS))
def test_sweep_and_table_fit(experiment: str, scale: str, tmp_path: Path) -> None:
    shape, jobs = experiment_shape(experiment), jobs_at(experiment, scale)
    results = gather(experiment, shape, jobs, Store(tmp_path))
    expected = COLUMNS[experiment, scale]
    assert results.columns == expected
    left = shape.restricted(results.columns)
    assert sorted(row.row for row in left.rows) == ROWS
    for row in left.rows:
        for column in expected:
            assert [run.seed for run in results.at(row.row, column)] == list(range(SEEDS[scale]))
    assert results.expected == len(jobs) == len(ROWS) * len(expected) * SEEDS[scale]
    assert left.figures
    for job in jobs:
        (seed,) = job.run_ids
        assert (job.config.seed, job.config.target.model_seed) == (seed, seed)
        assert job.config.task.thinning == THINNING[scale]
        assert job.config.task.samples == (400 if scale == "smoke" else 5000)


@pytest.mark.parametrize("scale", list(SEEDS))
def test_table_and_figure_use_the_same_images(scale: str) -> None:
    table = {images_module._identity(job.config, job.config.seed) for job in jobs_at("edlp_table1", scale)}
    figure = {images_module._identity(job.config, job.config.seed) for job in jobs_at("edlp_figure14", scale)}
    assert table == figure
    assert len(table) == len(ROWS) * SEEDS[scale]


def test_every_published_number_has_its_place() -> None:
    shape = experiment_shape("edlp_table1")
    published = published_numbers(shape)
    found = [
        published.find("EDLP", metric, column, row)
        for metric in shape.metrics
        for column in shape.columns
        for row in shape.rows
    ]
    assert sum(number is not None for number in found) == len(published) == 6 * 3 * 3
    number = published.find("EDLP", shape.metric("psnr"), shape.column("MNIST, noisy"), shape.row("EDMALA"))
    assert number is not None
    assert (number.mean, number.sd) == (15.9938, 0.0727)


HISTOGRAM = """
title: Classes
caption: For the tests.
rows: [{row: A}, {row: B}]
columns: [{label: nine, where: {target.size: 9}}]
metrics: [{metric: class_tv, name: Distance, direction: none}]
figures:
  - name: classes
    across: 2
    legend: []
    panels:
      - {kind: class_histogram, title: A, row: A, columns: [nine], limits: [0, 0.8]}
      - {kind: class_histogram, title: B, row: B, columns: [nine]}
"""


def test_a_histogram_has_a_bar_and_a_mark_for_every_class() -> None:
    shape = table_shape("classes", cast(Any, OmegaConf.create(HISTOGRAM)))
    shares = {0: {"class_2": 0.5, "class_10": 0.5}, 1: {"class_2": 0.7, "class_10": 0.3}}
    runs = []
    for seed, own in shares.items():
        metrics = {**own, "real_2": 0.25, "real_10": 0.75, "class_tv": 0.1, "class_entropy": 1.0}
        folder = cast(Any, SimpleNamespace(path=Path("nowhere")))
        done = {"metrics": metrics, "seconds": 1.0}
        runs.append(Run("A", "nine", seed, str(seed), "done", OmegaConf.create({}), done, folder))
    page: Figure = draw_figure(shape.figures[0], shape, Results(tuple(runs)))
    page.draw_without_rendering()
    first, second = page.axes
    assert [bar.get_height() for bar in cast(Any, first).patches] == pytest.approx([0.6, 0.4])
    assert [label.get_text() for label in first.get_xticklabels()] == ["2", "10"]
    assert first.get_ylim() == (0, 0.8)
    marks = [path.vertices[0][1] for lines in first.collections for path in cast(Any, lines).get_paths()]
    assert {0.25, 0.75} <= set(marks)
    assert "no finished run" in [text.get_text() for text in second.texts]
