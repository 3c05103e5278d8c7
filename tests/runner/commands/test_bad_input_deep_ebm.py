"""What is refused of the data of deep energy-based models: one sentence, status 2, before any work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from runner.models.model_files import save_model
from targets.models.rbm import RBM
from targets.models.resnet_ebm import ResNetEBM
from tests.runner.commands.test_bad_input_rbm import _nothing_begins, refused_and_nothing_lost
from tests.runner.conftest import Call

__all__ = ["_nothing_begins"]  # a fixture that every test here uses

LEARN = (
    "scale=smoke task=learn target=resnet_ebm target.width=2 target.blocks=1 target.halvings=1 task.batch=4 "
    "sampler=dmala sampler.step_size=0.15"
)
EVALUATE = "scale=smoke task=evaluate"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    """Data of 2 x 6 pixels with all parts and without validation, grey data, a model of 3 x 4 pixels."""
    bits = np.random.default_rng(0).integers(0, 2, (8, 2, 6))
    np.savez(tmp_path / "own.npz", train=bits, validation=bits, test=bits)
    np.savez(tmp_path / "two.npz", train=bits, test=bits)
    np.savez(tmp_path / "grey.npz", train=bits * 0.3, test=bits)
    np.savez(tmp_path / "bright.npz", train=bits * 300, test=bits)
    deep = ResNetEBM(12, shape=(3, 4), width=2, blocks=1, halvings=1)
    save_model(tmp_path / "deep.safetensors", deep, {"dataset": "own.npz"})
    save_model(tmp_path / "rbm.safetensors", RBM(12, 3), {"dataset": "own.npz"})


REFUSED = [
    # Data of another size than the network expects.
    (
        f"{EVALUATE} model=deep.safetensors task.dataset=digits",
        "task.dataset=digits has 64 pixels an image, the model deep.safetensors has 12 visible units.",
    ),
    (
        f"{EVALUATE} model=deep.safetensors task.dataset=own.npz",
        "task.dataset=own.npz has images of 2 x 6 pixels, the model deep.safetensors expects 3 x 4.",
    ),
    (f"{EVALUATE} model=deep.safetensors", "has images of 2 x 6 pixels, the model deep.safetensors expects"),
    (f"{LEARN} target.dataset=own.npz +target.shape=[3,4]", "Unknown key 'target.shape'."),
    (f"{LEARN} target.dataset=own.npz +target.n_visible=5", "Unknown key 'target.n_visible'."),
    # Data that are not there, not enough, or not zeros and ones.
    (
        f"{LEARN} target.dataset=own.npz task.batch=9",
        "task.batch must not exceed the 8 training images of own, 9",
    ),
    (
        f"{LEARN} target.dataset=two.npz task.validate_every=5",
        "task.validate_every must be null for two, which has no validation images, 5 was given.",
    ),
    (
        f"{LEARN} target.dataset=grey.npz",
        "'grey.npz' is not binary: train holds values other than 0 and 1, for grey ones binarisation must be "
        "threshold, stochastic or dynamic",
    ),
    (
        f"{LEARN} target.dataset=bright.npz target.binarisation=dynamic",
        "'bright.npz' must hold values between 0 and 1 or whole ones from 0 to 255, train holds others",
    ),
    (
        f"{LEARN} target.dataset=own.npz target.binarisation=dynamical",
        "'dynamical' was given; did you mean 'dynamic'?",
    ),
    (f"{LEARN} target.dataset=mnist_dynamc", "'mnist_dynamc' was given; did you mean 'mnist_dynamic'?"),
    (f"{LEARN} target.dataset=omniglot_burda", "omniglot_burda needs a folder of data sets, say where with"),
    (
        f"{LEARN} target.dataset=omniglot_burda data.root=.",
        "put OMNIGLOT/chardata.mat (a MATLAB file) into '.'",
    ),
    (f"{LEARN} target.dataset=missing.npz", "'missing.npz' cannot be read: No such file or directory."),
    # A model of another architecture.
    (
        "scale=smoke target=resnet_ebm sampler=dmala target.model=rbm.safetensors",
        "target.model=rbm.safetensors must be a model of targets.models.resnet_ebm.ResNetEBM, "
        "a RBM was given.",
    ),
    (
        "scale=smoke target=rbm sampler=dmala target.model=deep.safetensors",
        "target.model=deep.safetensors must be a model of targets.models.rbm.RBM, a ResNetEBM was given.",
    ),
]


@pytest.mark.parametrize(("command", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_data_that_do_not_fit_are_refused(call: Call, tmp_path: Path, command: str, sentence: str) -> None:
    assert sentence in refused_and_nothing_lost(call, tmp_path, command)
    assert not list(tmp_path.glob("outputs/models/*"))
    assert not list(tmp_path.glob("outputs/runs/*"))
