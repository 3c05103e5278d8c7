"""The tasks `autoencode` and `classify`: images made once and shared, networks stored, resumed, refused."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file
from sklearn.datasets import load_digits
from torch import nn

from metrics.applications.image_classes import LeNet5
from metrics.applications.reconstruction import ConvolutionalAutoencoder
from runner.config.data.datasets import load_dataset
from runner.execution import signals
from runner.models.model_files import save_model
from runner.problem import problems as problems_module
from runner.problem.problems import Problems
from runner.report.figure_shape import Role
from runner.report.selection.grid import grid_of
from runner.report.selection.stored_runs import stored_runs
from runner.store.arrays.array_files import load_images
from runner.sweep.job_runner import compute
from runner.sweep.jobs import jobs_of, requested
from runner.tasks.images import sampled_images
from runner.tasks.images.autoencode import shown_images
from runner.tasks.images.fitting import Fit, FitSettings, network_from_seed
from runner.tasks.images.image_task import sampling
from runner.tasks.sample import Sampling
from targets import RBM, ResNetEBM
from tests.support.commands import (
    Call,
    assert_refused,
    counted,
    finished,
    measured,
    one,
    refusal,
    rows,
    summary,
)

DIGITS = (
    *("scale=smoke", "target=rbm", "target.dataset=digits", "target.n_hidden=4"),
    *("target.training.iterations=5", "target.ground_truth.steps=10", "target.ground_truth.keeps=2"),
    *("target.ground_truth.chains=10", "sampler=dmala", "sampler.step_size=0.5"),
)
IMAGES = (*DIGITS, "task.samples=130", "task.chains=20", "task.thinning=4")
AUTOENCODE = (
    *("task=autoencode", "task.autoencoder.networks=2", "task.autoencoder.epochs=2"),
    *IMAGES,
)
ROOT = Path(__file__).parents[3]
CLASSIFY = ("task=classify", "task.classifier.epochs=2", *IMAGES)


def of_training(lines: Sequence[str]) -> tuple[str, ...]:
    """The same on training images, without what makes a sampler's."""
    unread = ("sampler.", "task.chains=", "task.thinning=")
    return (*(line for line in lines if not line.startswith(unread)), "task.images=training")


@pytest.fixture(scope="module")
def autoencoded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output root of the task `autoencode` on clean test images."""
    return finished(tmp_path_factory.mktemp("autoencode") / "outputs", *AUTOENCODE)


@pytest.fixture(scope="module")
def classified(tmp_path_factory: pytest.TempPathFactory, autoencoded: Path) -> Path:
    """The output root of the task `classify` on the images of the task `autoencode`, and its run alone."""
    root = tmp_path_factory.mktemp("classify") / "outputs"
    shutil.copytree(autoencoded, root, ignore=shutil.ignore_patterns("runs"))
    return finished(root, *CLASSIFY)


def pixels_of(root: str | Path) -> Any:
    pixels = load_images(one("images/*", root))
    assert pixels is not None
    return pixels


def test_tasks_share_the_images_and_networks_of_one_sampling(
    call: Call, monkeypatch: pytest.MonkeyPatch, autoencoded: Path, classified: Path
) -> None:
    found, clean = summary(autoencoded), measured(autoencoded)
    assert (found["target"], found["sampler"], found["exact"]) == ("rbm/digits", "dmala", True)
    assert found["steps"] == 28 == found["evaluations"]
    assert any("split of our own" in note for note in found["notes"])
    names = {"mse", "psnr", "ssim", "pixel_log_likelihood", "mse_sd", "acceptance", "truth_rhat"}
    assert names <= set(clean)
    assert pixels_of(autoencoded).shape == (130, 8, 8)
    assert clean["pixel_mean"] == pytest.approx(pixels_of(autoencoded).mean())

    def again(*arguments: Any) -> None:
        raise AssertionError("it was made again")

    monkeypatch.setattr(sampled_images, "_make", again)
    monkeypatch.setattr(Fit, "advance", again)
    by_input = {"clean": clean}
    for name, change in {
        "noisy": ("task.input=noisy",),
        "occluded": ("task.input=occluded", "task.occlusion=2"),
        "still": ("task.input=noisy", "task.noise=0"),
        "grey": ("task.test=grey",),
    }.items():
        shutil.copytree(autoencoded, name, ignore=shutil.ignore_patterns("runs"))
        assert call(*AUTOENCODE, *change, f"output_root={name}").status == 0
        assert len(list(Path(name).rglob("autoencoder-*.safetensors"))) == 2
        by_input[name] = measured(name)
    assert by_input["still"] == clean
    assert len({values["mse"] for values in by_input.values()}) == 4
    assert len({values["pixel_mean"] for values in by_input.values()}) == 1
    for kind in ("images", "models"):
        assert len(list((classified / kind).iterdir())) == 1


@pytest.mark.parametrize("task", [AUTOENCODE, CLASSIFY], ids=["autoencode", "classify"])
def test_the_time_of_a_run_is_the_same_for_who_makes_the_images_and_who_reads_them(
    task: tuple[str, ...], call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It held the training of the model, of the classifier and the writing of images where it came first."""
    passed, clock, make = 0.0, time.monotonic, sampled_images._make

    def slow(*arguments: Any) -> None:
        nonlocal passed
        make(*arguments)
        passed += 1000.0

    monkeypatch.setattr(time, "monotonic", lambda: clock() + passed)
    monkeypatch.setattr(sampled_images, "_make", slow)
    assert call(*task).status == 0
    assert passed == 1000.0
    found = summary()
    assert found["seconds"] <= found["wall_seconds"] < 500.0


def test_grey_test_images_are_shown_and_wanted_back(autoencoded: Path, call: Call) -> None:
    data = load_dataset("digits", None, None)
    images = load_digits().images[6::7]
    np.testing.assert_array_equal(shown_images(data, "grey").numpy(), images / 16)
    assert torch.equal(shown_images(data, "binary").flatten(1), data.test)

    shutil.copytree(autoencoded, "outputs", ignore=shutil.ignore_patterns("runs"))
    assert call(*AUTOENCODE, "task.test=grey").status == 0
    errors = []
    for path in Path("outputs").rglob("autoencoder-*.safetensors"):
        network = ConvolutionalAutoencoder()
        network.load_state_dict(load_file(path))
        wanted = torch.from_numpy(images / 16).float()
        with torch.no_grad():
            errors.append(float((network(wanted) - wanted).square().mean()))
    assert measured("outputs")["mse"] == pytest.approx(np.mean(errors), rel=1e-5)


def test_the_images_are_the_draws_of_the_task_sample(call: Call, autoencoded: Path) -> None:
    """130 images are 6 draws of all 20 chains and the seventh of 10, where the chains of the same run end."""
    shutil.copytree(autoencoded / "models", "outputs/models")
    sample = ("task.chains=20", "task.steps=28", "task.burn_in=0", "metric=log_mmd", "seed=0")
    assert call("task=sample", *DIGITS, *sample).status == 0
    last = load_images(one("runs/*/draws.npz").parent)
    assert last is not None
    np.testing.assert_array_equal(pixels_of(autoencoded)[-10:], last[:10])


def test_seeds_are_computed_one_by_one_as_alone_on_one_problem(
    call: Call, monkeypatch: pytest.MonkeyPatch, autoencoded: Path
) -> None:
    builds = counted(monkeypatch, problems_module, "build")
    assert call(*AUTOENCODE, "seed=[5,0]").status == 0
    assert len(builds) == 1
    together = rows("outputs")
    assert [row for row in together if row[0] == "0"] == rows(autoencoded)
    assert len({row[-1] for row in together if row[3] == "mse"}) == 2


@pytest.mark.parametrize("task", [AUTOENCODE, CLASSIFY], ids=["autoencode", "classify"])
def test_stopped_anywhere_and_repeated(
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    autoencoded: Path,
    classified: Path,
    task: tuple[str, ...],
) -> None:
    """A signal after the first steps of the sampling, then one in the first fit, then to the end."""
    fine = (*task, "checkpoint.steps=7", "checkpoint.seconds=0")
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
    shutil.copytree(autoencoded / "models", "outputs/models")
    assert call(*fine).status == 75
    assert one("images/*/checkpoint.pt")
    signals.forget()
    assert call(*fine).status == 75
    assert saved_at == [7, 14, 21, 28], "the sampling did not go on from where it was"
    signals.forget()
    assert len(list(Path("outputs").glob("*/**/*.pt"))) == 1, "the fit left no checkpoint"
    assert call(*fine).status == 0
    assert epochs[:2] == [1, 2], "the fit did not go on from where it was"
    assert rows("outputs") == rows(autoencoded if task is AUTOENCODE else classified)
    assert not list(Path("outputs").glob("*/**/*.pt"))


def test_what_is_damaged_is_made_again(call: Call, autoencoded: Path) -> None:
    shutil.copytree(autoencoded, "outputs")

    def computed_again() -> str:
        one("runs/*/summary.json").unlink()
        ended = call(*AUTOENCODE)
        assert ended.status == 0
        assert measured() == measured(autoencoded)
        return ended.err

    first, second = sorted(Path("outputs/images").rglob("*.safetensors"))
    first.write_bytes(first.read_bytes()[:-9])
    second.write_bytes(b"no network")
    assert computed_again().count("cannot be read") == 2
    draws = one("images/*/draws.npz")
    draws.write_bytes(draws.read_bytes()[:50])
    computed_again()
    draws.unlink()
    draws.with_name("checkpoint.pt").write_bytes(b"no checkpoint")
    assert "checkpoint" in computed_again()


def test_a_classifier_learns_the_digits_and_is_fitted_once(call: Call) -> None:
    """Fixed seed: 0.891 of the 256 test images after 12 epochs. Training images stand in for a sampler's."""
    fit = (*of_training(CLASSIFY), "task.classifier.epochs=12", "task.samples=600")
    assert call(*fit).status == 0
    found, values = summary(), measured()
    assert values["classifier_accuracy"] > 0.85
    assert values["class_tv"] < 0.1
    assert (found["sampler"], found["steps"], found["seconds"]) == ("training images", 0, 0.0)
    train = {tuple(image) for image in load_dataset("digits", None, None).train.tolist()}
    assert {tuple(image) for image in pixels_of("outputs").reshape(600, -1).tolist()} <= train
    assert not list(Path("outputs").glob("models/*/model.safetensors")), "a model was trained for nothing"
    shares, real = ([values[f"{kind}_{label}"] for label in range(10)] for kind in ("class", "real"))
    assert sum(shares) == pytest.approx(1) == sum(real)
    assert values["class_tv"] == pytest.approx(sum(abs(a - b) for a, b in zip(shares, real, strict=True)) / 2)
    written = one("classifiers/*.safetensors").stat().st_mtime_ns
    assert call(*fit, "seed=1").status == 0
    assert one("classifiers/*.safetensors").stat().st_mtime_ns == written


def test_training_images_stand_beside_samplers_and_do_not_compete(tmp_path: Path, classified: Path) -> None:
    """Their rows were called by a sampler that drew nothing, in a column of their own with a best mean."""
    root = tmp_path / "outputs"
    shutil.copytree(classified, root)
    for sampler in ("dmala", "gwg"):
        lines = [line for line in of_training(CLASSIFY) if not line.startswith("sampler=")]
        finished(root, *lines, f"sampler={sampler}")
    grid = grid_of([run for run in stored_runs(root) if run.settings["task"] == "classify"], "all")
    assert {row.row: row.role for row in grid.shape.rows} == {
        "dmala, images=sampler": Role.sampler,
        "no sampler, images=training": Role.draws,
    }
    assert [column.label for column in grid.shape.columns] == ["rbm"]
    assert grid.shape.notes == [], "the runs of both samplers have the same numbers"


def test_a_smaller_code_loses_more_of_the_digits(call: Call) -> None:
    """Fixed seed: mean squared errors of 0.120, 0.111 and 0.024. Training images stand in for a sampler's."""
    fit = (
        "task.autoencoder.epochs=12",
        "task.autoencoder.batch=20",
        "task.samples=600",
    )
    errors: list[float] = []
    for code in (2, 8, None):
        settings = (*fit, *([] if code is None else [f"task.autoencoder.code={code}"]))
        assert call(*of_training(AUTOENCODE), *settings, f"output_root=code_{code}").status == 0
        errors.append(measured(f"code_{code}")["mse"])
    assert errors[0] > errors[1] > 2 * errors[2]


@pytest.mark.data
@pytest.mark.slow
def test_the_code_of_edlp_table_1_is_calibrated_on_training_images(call: Call) -> None:
    """The published errors on clean images are 0.0253 to 0.0268, their PSNR 16.1 to 16.4 dB."""
    if "DATA_ROOT" not in os.environ:
        pytest.skip("DATA_ROOT is not set")
    chosen = yaml.safe_load((ROOT / "conf/experiment/edlp_table1.yaml").read_text())["sweep"]["overrides"][
        "task.autoencoder.code"
    ]
    fit = ("task=autoencode", "task.autoencoder.networks=2")
    assert (
        call(*of_training(DIGITS), *fit, "target.dataset=mnist", f"task.autoencoder.code={chosen}").status
        == 0
    )
    assert 0.0253 - 0.002 < measured()["mse"] < 0.0268 + 0.002
    assert 16.1 - 0.4 < measured()["psnr"] < 16.4 + 0.4


@pytest.mark.usefixtures("call")
def test_a_worker_computes_with_the_threads_of_the_run() -> None:
    """A worker has no preflight, and another number of threads rounds a fit differently."""
    lines = [*of_training(CLASSIFY), "task.classifier.epochs=1"]
    (job,) = jobs_of(requested(lines, multirun=False))
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
    assert call(*of_training(IMAGES), "task=classify", "target.dataset=mnist").status == 0
    assert measured()["classifier_accuracy"] >= 0.985


# --- fits -----------------------------------------------------------------------------------------------


class _Line(nn.Module):
    """One weight a pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 1)


def test_weights_are_drawn_from_their_seed_alone() -> None:
    before = torch.get_rng_state()
    first, same, other = (
        network_from_seed(lambda: LeNet5(10), seed, torch.float32, torch.device("cpu")).state_dict()
        for seed in (1, 1, 2)
    )
    assert torch.equal(torch.get_rng_state(), before), "the global generator was used"
    for name, weight in first.items():
        assert torch.equal(weight, same[name])
        assert not torch.equal(weight, other[name])
        assert bool(weight.isfinite().all())
    kernel = first["features.0.weight"]
    assert float(kernel.abs().max()) <= 1 / 5
    assert float(kernel.std()) == pytest.approx(1 / 5 / 3**0.5, rel=0.2)


def test_a_fit_sees_every_example_once_an_epoch_and_goes_on_where_it_was() -> None:
    inputs = torch.randn(10, 3, generator=torch.Generator().manual_seed(0))
    seen: list[list[int]] = []

    def loss(network: _Line, places: torch.Tensor) -> torch.Tensor:
        seen.append(places.tolist())
        return (network.layer(inputs[places]).squeeze(-1) - inputs[places].sum(-1)).square().mean()

    def fit() -> Fit[_Line]:
        network = network_from_seed(_Line, 0, torch.float32, torch.device("cpu"))
        return Fit(network, loss, 10, FitSettings(epochs=4, batch=4, learning_rate=0.1), 7)

    def losses(part: Fit[_Line], epochs: int) -> list[float]:
        found = []
        for _ in range(epochs):
            part.advance()
            found.append(part.loss)
        return found

    whole = fit()
    found = losses(whole, 4)
    assert [len(places) for places in seen] == [4, 4, 2] * 4
    epochs = [list(itertools.chain(*seen[3 * epoch : 3 * epoch + 3])) for epoch in range(4)]
    assert all(sorted(epoch) == list(range(10)) for epoch in epochs)
    assert epochs[0] != epochs[1]
    assert found[-1] < found[0]
    half, rest = fit(), fit()
    losses(half, 2)
    rest.load_state_dict(half.state_dict())
    assert losses(rest, 2) == found[2:]
    assert rest.epoch == 4
    for name, weight in rest.network.state_dict().items():
        assert torch.equal(weight, whole.network.state_dict()[name])


# --- what is refused ------------------------------------------------------------------------------------

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
    ("task.start=here", "task.start must be one of exact, one_mode, random, uniform, 'here' was given"),
    ("task.images=sampled", "must be one of sampler, training, 'sampled' was given; did you mean"),
    ("task.input=noise", "task.input must be one of clean, noisy, occluded, 'noise' was given"),
    ("task.test=gray", "task.test must be one of binary, grey, 'gray' was given; did you mean 'grey'?"),
    ("task.test=grey target.dataset=mine.npz", "a data set with grey values, mine is black and white."),
    ("task.noise=-0.1", "task.noise must be a number from 0 to 1, -0.1 was given."),
    ("task.noise=nan", "task.noise must be a number from 0 to 1, nan was given."),
    ("task.occlusion=0", f"task.occlusion {WHOLE} 1, 0 was given."),
    (
        "task.input=occluded task.occlusion=9",
        "task.occlusion must fit into images of 8 x 8 pixels, 9 was given.",
    ),
    (
        "task.noise=0.9",
        "task.noise must be left out, since only task.input=noisy reads it; task.noise=0.9 was",
    ),
    ("task.input=noisy task.occlusion=2", "must be left out, since only task.input=occluded reads it"),
    ("task.autoencoder.networks=0", f"task.autoencoder.networks {WHOLE} 1, 0 was given."),
    ("task.autoencoder.code=0", f"task.autoencoder.code {WHOLE} 1, 0 was given."),
    ("task.autoencoder.epochs=0", f"task.autoencoder.epochs {WHOLE} 1, 0 was given."),
    ("task.autoencoder.batch=none", f"task.autoencoder.batch {WHOLE} 1, 'none' was given."),
    ("task.autoencoder.learning_rate=0", "task.autoencoder.learning_rate must be a positive number, 0 was"),
    ("task.autoencoder=null", "task.autoencoder must be a group of keys, None was given."),
    ("sampler.step_size=0", "sampler.step_size must be"),
    ("target.dataset=mnsit", "did you mean 'mnist'?"),
    ("target.dataset=odd.npz", "needs images whose sides are multiples of 4 pixels, those of odd are 6 x 8."),
]


@pytest.mark.parametrize("task", [AUTOENCODE, CLASSIFY], ids=["autoencode", "classify"])
@pytest.mark.parametrize(
    "line",
    [
        *(f"task.{key}=7" for key in ("chains", "thinning", "burn_in")),
        "task.start=uniform",
        "sampler.step_size=0.1",
    ],
)
def test_what_training_images_do_not_read_is_refused(task: tuple[str, ...], line: str) -> None:
    key = line.split("=")[0]
    expected = f"{key} must be left out, since only task.images=sampler reads it; {line} was given."
    assert refusal(*of_training(task), line) == expected


def test_what_cannot_be_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, height in (("mine.npz", 8), ("odd.npz", 6)):
        images = np.zeros((200, height, 8), dtype=np.uint8)
        images[::2, ::3] = 1
        np.savez(name, train=images, test=images)
    assert_refused(AUTOENCODE, SETTINGS)
    said = refusal(*of_training(AUTOENCODE), "task.samples=2000")
    assert "must not exceed the 1285 training images of digits" in said
    own = (*CLASSIFY, "target.dataset=mine.npz")
    assert "The data set mine.npz has no labels here" in refusal(*own)
    said = refusal(*CLASSIFY, "task.classifier.epochs=0")
    assert f"task.classifier.epochs {WHOLE} 1, 0 was given." in said
    for task, target in itertools.product(("autoencode", "classify"), ("bernoulli4", "mog")):
        said = refusal(f"task={task}", f"target={target}", "sampler=dmala")
        assert said.startswith(
            f"task={task} needs a target that learned images, such as rbm; target={target}"
        )
    assert not list(tmp_path.glob("outputs/*/*"))


def trained_on(images: np.ndarray, tmp_path: Path) -> str:
    """The file of a small RBM that learned `images`, written to own.npz here."""
    np.savez("own.npz", train=images, test=images[:20])
    learning = ("task=learn", "scale=smoke", "target=rbm", "target.n_hidden=4", "task.batch=10")
    root = finished(tmp_path / "learned", *learning, "target.dataset=own.npz", "sampler=rbm_gibbs")
    return str(next(root.glob("models/*/model.safetensors")))


def test_a_named_model_is_used_with_the_images_that_it_learned_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another file under the same name, another size and a file that is elsewhere by now are refused."""
    monkeypatch.chdir(tmp_path)
    images = (np.arange(200 * 64).reshape(200, 8, 8) * 7919 % 11 < 4).astype(np.uint8)
    model = trained_on(images, tmp_path)
    named = ("scale=smoke", "target=rbm", f"target.model={model}", "sampler=rbm_gibbs")
    coded = (*named, "task=autoencode", "task.samples=20", "task.autoencoder.batch=10")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    for each in (named, coded):
        said = refusal(*each)
        assert "the model" in said
        assert "target.dataset=FILE.npz says where they are now" in said
    Path("../own.npz").rename("here.npz")
    finished(tmp_path / "elsewhere", *named, "target.dataset=here.npz")
    np.savez("here.npz", train=1 - images, test=images[:20])
    for each in (named, coded):
        said = refusal(*each, "target.dataset=here.npz")
        assert "was trained on other images than the data set here holds now." in said


def test_images_of_another_size_than_the_model_are_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file that does not name its data set; another shape is another image to a convolution."""
    monkeypatch.chdir(tmp_path)
    save_model(Path("small.safetensors"), RBM(10, 4), {})
    save_model(Path("wide.safetensors"), ResNetEBM(64, shape=(4, 16)), {})
    for name, model, reason in (
        ("rbm", "small", "has 64 pixels an image, the model"),
        ("resnet_ebm", "wide", "has images of 8 x 8 pixels, the model"),
    ):
        named = (
            "scale=smoke",
            f"target={name}",
            f"target.model={model}.safetensors",
            "target.dataset=digits",
        )
        said = refusal(*named, "task=autoencode", "task.samples=20", "sampler=dmala", "sampler.step_size=0.2")
        assert f"The data set digits {reason}" in said
    assert "has 64 pixels" in refusal(
        *("scale=smoke", "target=rbm", "target.model=small.safetensors", "target.dataset=digits"),
        *("sampler=dmala", "sampler.step_size=0.2"),
    )


def test_images_are_made_by_plain_steps() -> None:
    """These tasks have no ids for compiled steps."""
    lines = [*AUTOENCODE, "compile=auto", "task.thinning=20000"]
    [(_, config)] = requested(lines, multirun=False).composed
    assert config.compile == "auto"
    assert sampling(config).compile is False


def test_states_of_an_annealed_kernel_are_no_images_of_the_target() -> None:
    said = refusal(*CLASSIFY, "tempering=annealed")
    assert "thinned_draws needs draws from the target" in said
