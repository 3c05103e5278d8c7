"""The task `autoencode` by the protocol of EDLP's released code: networks, tests and measures."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from metrics.applications.released_reconstruction import PoolingAutoencoder, as_saved, uniform_ssim
from runner.store.arrays.array_files import load_images
from runner.tasks.images import sampled_images
from tests.support.commands import Call, finished, measured, refusal
from tests.support.tables import jobs_at

WORDS = (
    *("scale=smoke", "target=rbm", "target.dataset=digits", "target.n_hidden=4"),
    *("target.training.iterations=5", "target.ground_truth.steps=10", "target.ground_truth.keeps=2"),
    *("target.ground_truth.chains=10", "sampler=dmala", "sampler.step_size=0.5"),
    *("task=autoencode", "task.autoencoder.networks=2", "task.autoencoder.epochs=2"),
    *("task.samples=130", "task.chains=20", "task.thinning=4", "task.test=grey"),
)
RELEASED = (*WORDS, "task.protocol=released")


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(tmp_path_factory.mktemp("released") / "outputs", *WORDS)


def test_both_protocols_share_the_images_and_no_network(
    described: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(described, "outputs")
    monkeypatch.setattr(sampled_images, "_make", lambda *_: pytest.fail("the images were made again"))
    assert call(*RELEASED).status == 0
    files = list(Path("outputs").rglob("autoencoder-*.safetensors"))
    assert len(files) == 4
    assert len(list(Path("outputs/runs").iterdir())) == 2


@pytest.mark.parametrize("shown", ["clean", "noisy", "occluded"])
def test_the_measures_are_of_what_the_networks_were_given(shown: str, described: Path, call: Call) -> None:
    shutil.copytree(described, "outputs", ignore=shutil.ignore_patterns("runs"))
    assert call(*RELEASED, f"task.input={shown}").status == 0
    found = measured()
    assert "pixel_log_likelihood" not in found
    known = {path.name for path in described.rglob("autoencoder-*.safetensors")}
    networks = [path for path in Path("outputs").rglob("autoencoder-*") if path.name not in known]
    networks = [path for path in networks if path.suffix == ".safetensors"]
    assert len(networks) == 2
    if shown != "clean":
        assert found["mse"] != found["mse_given"]
        return
    from runner.config.data.datasets import load_dataset

    data = load_dataset("digits", None, None)
    assert data.grey_test is not None
    images = data.grey_test.reshape(-1, 8, 8).double() / data.white
    errors, residuals, similarities = [], [], []
    for path in networks:
        network = PoolingAutoencoder((8, 8))
        network.load_state_dict(load_file(path))
        with torch.no_grad():
            made = network(images.float()).double()
        errors.append(float((made - images).square().mean()))
        residuals.append(float((images - made).mean()))
        similarities.append(float(uniform_ssim(images, made).mean()))
    assert found["mse"] == found["mse_given"] == pytest.approx(np.mean(errors), rel=1e-5)
    assert found["mean_residual"] == pytest.approx(np.mean(residuals), rel=1e-4)
    assert found["ssim_given"] == pytest.approx(np.mean(similarities), rel=1e-5)
    assert found["psnr_given"] == found["psnr"]
    assert all(math.isfinite(found[name]) for name in ("ssim", "mse_given_sd"))


def test_networks_learn_from_the_images_as_they_are_saved(
    call: Call, monkeypatch: pytest.MonkeyPatch, described: Path
) -> None:
    shutil.copytree(described, "outputs", ignore=shutil.ignore_patterns("runs"))
    seen: list[torch.Tensor] = []
    forward = PoolingAutoencoder.forward

    def watched(self: PoolingAutoencoder, images: torch.Tensor) -> Any:
        if torch.is_grad_enabled():
            seen.append(images.detach().clone())
        return forward(self, images)

    monkeypatch.setattr(PoolingAutoencoder, "forward", watched)
    assert call(*RELEASED, "task.autoencoder.networks=1", "task.autoencoder.epochs=1").status == 0
    (folder,) = (Path("outputs") / "images").iterdir()
    pixels = load_images(folder)
    assert pixels is not None
    saved = as_saved(torch.from_numpy(pixels).float())
    learned = torch.cat(seen)
    order = [np.lexsort(each.reshape(130, -1).numpy().T) for each in (saved, learned)]
    assert torch.equal(saved[order[0]], learned[order[1]])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("task.protocol=release", "must be one of described, released, 'release' was given; did you mean"),
        ("task.protocol=released task.autoencoder.code=9", "since only task.protocol=described reads it"),
        (
            "task.protocol=released task.input=occluded task.occlusion=2",
            "task.occlusion must be left out, since only task.protocol=described reads it",
        ),
    ],
)
def test_what_the_protocol_does_not_read_is_refused(line: str, said: str) -> None:
    assert said in refusal(*WORDS, *line.split())


def test_the_experiment_has_the_settings_of_the_released_code() -> None:
    jobs = jobs_at("edlp_table1_released", "scale=paper", "sampler=dmala", "task.input=clean")
    task, target = jobs[0].config.task, jobs[0].config.target
    assert (task.samples, task.chains, task.thinning, task.burn_in) == (5000, 100, 1000, 1001)
    assert (task.autoencoder.epochs, task.autoencoder.batch, task.autoencoder.networks) == (25, 64, 5)
    assert (target.training.iterations, target.training.cd_steps, target.training.batch) == (600, 10, 100)
