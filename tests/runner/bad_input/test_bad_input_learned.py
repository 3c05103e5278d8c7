"""What is refused of data sets, learned targets and saved models: one sentence, before any work."""

from __future__ import annotations

import gzip
import os
import pickle
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from runner.models import learned_target
from runner.models.model_files import save_model
from runner.problem import cached_reference_sample
from targets.models.rbm import RBM
from targets.models.resnet_ebm import ResNetEBM
from tests.support.commands import Call, check_refused_values, contents, refusal, refused

DIGITS = "scale=smoke target=rbm target.dataset=digits target.n_hidden=3 sampler=rbm_gibbs"
WHOLE = "a whole number of at least"
MNIST = "scale=smoke target=rbm target.dataset=mnist sampler=rbm_gibbs"


@pytest.fixture(autouse=True)
def _nothing_begins(tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder: no network, no data but a test's own, no training: all is refused before."""

    def no_network(*arguments: Any, **options: Any) -> None:
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    def begun(*arguments: Any) -> None:
        raise AssertionError("work has begun")

    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    monkeypatch.delenv("DATA_ROOT", raising=False)
    monkeypatch.setattr(learned_target, "_train", begun)
    monkeypatch.setattr(cached_reference_sample, "_make", begun)


def refused_and_nothing_lost(*lines: str) -> str:
    """The sentence, having checked that what the user has is as it was and nothing new is there."""
    before = contents(Path())
    sentence = refusal(*lines)
    assert contents(Path()) == before
    for made in ("models", "runs"):
        assert not list(Path().glob(f"outputs/{made}/*"))
    return sentence


HELD_OUT = "samplers.reference.held_out_draws.HeldOutDraws"
SETTINGS = [
    ("target.dataset=mnsit", "target.dataset must be a file.npz or one of caltech, digits, emnist,"),
    ("target.dataset=mnsit", "'mnsit' was given; did you mean 'mnist'?"),
    ("target.dataset=null", "target.dataset must be"),
    ("target.binarisation=treshold", "target.binarisation must be null or one of binary, dynamic, stoch"),
    ("target.binarisation=treshold", "'treshold' was given; did you mean 'threshold'?"),
    ("target.n_hiden=3", "Unknown key 'target.n_hiden'; did you mean 'target.n_hidden'?"),
    ("target.training.batch=5000", "target.training.batch must not exceed the 1285 training images of di"),
    ("target.training.method=cdd", "target.training.method must be one of cd, pcd, 'cdd' was given"),
    ("target.training.cd_step=1", "did you mean 'target.training.cd_steps'?"),
    ("target.training.sampler=null", "target.training.sampler has no _target_"),
    ("target.training.sampler._target_=targets.models.rbm.RBM", "target.training.sampler"),
    (f"target.training.sampler._target_={HELD_OUT}", "target.training.sampler: ground_truth_draws needs the"),
    ("target.model_seed=[0,1]", "target.model_seed must be a whole number of at least 0, [0, 1] was given."),
    ("target.ground_truth.keeps=1000", "target.ground_truth.keeps must be at most half the steps (25), 1000"),
    ("target.ground_truth=null", "target.ground_truth must be a group of keys, None was given."),
    ("model=somewhere", "model=somewhere is for task=evaluate; target.model=PATH samples from a saved mod"),
    ("target.model=nowhere", "target.model must be a saved model or the folder of one, 'nowhere' was given"),
]


@pytest.mark.parametrize(("given", "sentence"), SETTINGS, ids=[given for given, _ in SETTINGS])
def test_a_setting_of_a_learned_target_is_refused(given: str, sentence: str) -> None:
    assert sentence in refused_and_nothing_lost(DIGITS, given)


SCHEDULE = f"{WHOLE} 2 or a schedule that increases strictly from 0 to 1"
DULA = "task.ais.sampler._target_=samplers.discrete.dula.DULA"
LEARNING = [
    ("task.batch=5000", "task.batch must not exceed the 1285 training images of digits, 5000 was given."),
    ("task.method=pdc", "task.method must be one of cd, pcd, 'pdc' was given; did you mean 'pcd'?"),
    ("target.dataset=mnsit", "did you mean 'mnist'?"),
    ("sampler=exact_draws", "sampler: "),
    ("sampler=ground_truth_draws", "sampler: ground_truth_draws needs the target's held_out draws, and"),
    ("sampler=gwg tempering=annealed", "sampler: learning needs draws from the model; the states of Simulat"),
    ("sampler=dula sampler.step_size=0", "sampler.step_size must be"),
    ("task.ais=null", "task.ais must be a group of keys, None was given."),
    ("task.ais.temperatures=[0,0.5,0.5,1]", f"must be {SCHEDULE}, a schedule with 0.5 foll"),
    ("task.ais.temperatures=[0,0.7,0.5,1]", "a schedule with 0.7 followed by 0.5 was given."),
    ("task.ais.temperatures=[1,0]", "a schedule with 1 followed by 0 was given."),
    ("task.ais.temperatures=[0.1,1]", "a schedule from 0.1 to 1 was given."),
    ("task.ais.temperatures=[0,0.9]", "a schedule from 0 to 0.9 was given."),
    ("task.ais.temperatures=[0,nan,1]", "a schedule with 0 followed by nan was given."),
    ("task.ais.temperatures=[0,b,1]", "a schedule with 'b' was given."),
    ("task.ais.temperatures=[0,1]", "a schedule of 1 step was given."),
    ("task.ais.temperatures=null", "None was given."),
    ("task.ais.schedule=linera", "task.ais.schedule must be one of linear, pieces, sigmoid, 'linera' was"),
    ("task.ais.sampler=null", "task.ais.sampler must be a group of keys with a _target_, None was given."),
    ("task.ais.sampler.step_size=auto", "hyperparameters, DMALA has step_size left to tuning."),
    ("task.ais.sampler.step_size=0", "task.ais.sampler.step_size must be"),
    (f"{DULA} ++task.ais.sampler.step_size=0.1", "so that the estimate would be biased."),
]


@pytest.mark.parametrize(("given", "sentence"), LEARNING, ids=[given for given, _ in LEARNING])
def test_a_setting_of_learning_is_refused(given: str, sentence: str) -> None:
    digits = DIGITS.removesuffix("sampler=rbm_gibbs") if "sampler=" in given else DIGITS
    assert sentence in refused_and_nothing_lost("task=learn", digits, given)


POSITIVE = "a positive number"
NUMBERS = [
    ("target.n_hidden", f"{WHOLE} 1", "0 -3 1.5 'many'"),
    ("target.training.cd_steps", f"{WHOLE} 1", "0 -1"),
    ("target.training.iterations", f"{WHOLE} 1", "0"),
    ("target.training.batch", f"{WHOLE} 1", "0"),
    ("target.training.learning_rate", POSITIVE, "0 nan"),
    ("target.model_seed", f"{WHOLE} 0", "-1 True"),
    ("target.ground_truth.steps", f"{WHOLE} 2", "0"),
    ("target.ground_truth.chains", f"{WHOLE} 2", "1"),
    ("task.cd_steps", f"{WHOLE} 1", "0"),
    ("task.iterations", f"{WHOLE} 1", "0 2.5"),
    ("task.batch", f"{WHOLE} 1", "0"),
    ("task.chains", f"{WHOLE} 1", "0"),
    ("task.learning_rate", POSITIVE, "-1 inf"),
    ("task.tune_every", f"null or {WHOLE} 1", "0"),
    ("task.ais.chains", f"{WHOLE} 2", "1"),
    ("task.ais.draw_steps", f"{WHOLE} 1", "0"),
    ("task.ais.repeats", f"{WHOLE} 1", "0"),
    ("task.ais.temperatures", SCHEDULE, "0 1 2.5"),
]


@pytest.mark.parametrize(("key", "allowed", "values"), NUMBERS, ids=[key for key, *_ in NUMBERS])
def test_a_number_is_refused(key: str, allowed: str, values: str) -> None:
    learn = "task=learn" if key.startswith("task.") else ""
    check_refused_values(f"{learn} {DIGITS}", key, allowed, values)


MISMATCHED = [
    ("task=learn target=mog", "task=learn needs a target that can be learned, such as rbm or resnet_ebm; ta"),
    ("sampler=rbm_gibbs target=mog", "sampler: rbm_gibbs needs a restricted Boltzmann machine"),
    ("sampler=ground_truth_draws target=mog", "sampler: ground_truth_draws needs a target with held_out"),
    ("metric=log_mmd target=mog", "metric: log_mmd needs a binary target with reference draws"),
    ("target=mog target.n_hidden=3", "Unknown key 'target.n_hidden'. target=mog has: components, energy."),
    (f"-m {DIGITS} target.ground_truth.chains=50,1", "target.ground_truth.chains must be"),
    (f"-m {DIGITS} target.ground_truth.chains=50,1", "(job: "),
]


@pytest.mark.parametrize(("command", "sentence"), MISMATCHED, ids=[sentence for _, sentence in MISMATCHED])
def test_what_does_not_fit_together_is_refused(command: str, sentence: str) -> None:
    assert sentence in refused_and_nothing_lost(command)


def test_whole_commands_are_refused(call: Call) -> None:
    assert "target.n_hidden must be a whole number" in refused(call, DIGITS, "target.n_hidden=0")
    assert "task.ais must be a group of keys" in refused(call, "task=learn", DIGITS, "task.ais=null")
    assert "(job: " in refused(call, f"-m {DIGITS} target.ground_truth.chains=50,1")
    assert "mnist is missing and could not" in refused(call, MNIST, "data.root=.")
    evil_torch(Path("evil.pt"))
    assert "nothing in it was executed." in refused(call, "task=evaluate model=evil.pt")
    assert not Path("executed").exists()


def idx(images: np.ndarray[Any, Any]) -> bytes:
    return bytes((0, 0, 8, 3)) + struct.pack(">3I", *images.shape) + images.astype(np.uint8).tobytes()


NOISE = np.random.default_rng(0).integers(0, 255, (40, 28, 28))
DATA: dict[str, tuple[bytes | None, str]] = {
    "nothing": (None, "mnist is missing and could not be downloaded (no network"),
    "truncated": (gzip.compress(idx(NOISE))[:-100], "train-images-idx3-ubyte.gz' is damaged or cannot be"),
    "cut": (idx(np.zeros((10, 28, 28)))[:-100], "train-images-idx3-ubyte'"),
    "small": (idx(np.zeros((10, 8, 8))), "MNIST/raw'"),
    "few": (idx(np.zeros((10, 28, 28))), "MNIST/raw'"),
    "garbage": (b"<html>404</html>", "train-images-idx3-ubyte'"),
}


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("task", ["task=sample", "task=learn"])
def test_a_data_set_that_is_missing_or_damaged(tmp_path: Path, task: str, kind: str) -> None:
    (content, sentence), root = DATA[kind], tmp_path / "data"
    (root if content is None else root / "MNIST/raw").mkdir(parents=True)
    for part in ("train", "t10k") if content is not None else ():
        suffix = ".gz" if kind == "truncated" else ""
        (root / f"MNIST/raw/{part}-images-idx3-ubyte{suffix}").write_bytes(content or b"")
    made_up = "" if content is None else "data.verify=false"
    said = refused_and_nothing_lost(task, MNIST, f"data.root={root} {made_up}")
    assert sentence in said
    assert str(root) in said
    assert sorted(path.name for path in root.iterdir()) == ([] if content is None else ["MNIST"])


ROOTS = [
    ("mnist data.root=.", "put MNIST/raw/train-images-idx3-ubyte and MNIST/raw/t10k-images-idx3-ubyte (idx"),
    ("kmnist data.root=null", "kmnist needs a folder of data sets, say where with DATA_ROOT=DIR or data.roo"),
    ("kmnist", "kmnist needs a folder of data sets, say where with DATA_ROOT=DIR or data.root=DIR"),
    ("kmnist data.root=''", "kmnist needs a folder of data sets, say where with DATA_ROOT=DIR or data.root="),
    ("mnist data.root=nowhere", "data.root (or DATA_ROOT) must be a folder that exists, 'nowhere' was given"),
]


NOWHERE = [
    (
        f"target=rbm target.dataset=mnist data.root='{{}}' data.verify={verify}",
        "must be a folder that exists, ",
    )
    for verify in ("true", "false")
]
NOWHERE += [
    ("target=binary_bnn target.tabular=adult data.root='{}'", "must be a folder that exists, "),
    ("target=rbm target.dataset='{}.npz'", ".npz' cannot be read: "),
    ("target=rbm target.model='{}'", "target.model must be a saved model or the folder of one, "),
    ("task=evaluate model='{}'", "model must be a saved model or the folder of one, "),
    ("target=tsp target.file='{}'", "must be null or a TSPLIB file, "),
    ("target=maxcut target.file='{}'", "must be null or a graph's file, "),
    ("target=ngram target.text='{}'", "text must be a file that can be read as UTF-8, "),
]


@pytest.mark.parametrize("path", ["~nosuchuser/x", 300 * "x"], ids=["no user", "long"])
@pytest.mark.parametrize(("given", "sentence"), NOWHERE, ids=[given for given, _ in NOWHERE])
def test_a_path_that_cannot_be_is_one_where_nothing_is(given: str, sentence: str, path: str) -> None:
    assert sentence in refused_and_nothing_lost(given.format(path))


@pytest.mark.parametrize(("given", "sentence"), ROOTS, ids=[given for given, _ in ROOTS])
def test_a_data_set_says_what_it_needs(given: str, sentence: str) -> None:
    assert sentence in refused_and_nothing_lost(f"target=rbm target.dataset={given}")


BITS = np.array([[0, 1, 1, 0]] * 6)
FILES: dict[str, tuple[dict[str, Any], str]] = {
    "grey": ({"train": BITS * 0.3, "test": BITS}, "'own.npz' is not binary: train holds values other than"),
    "grey_test": ({"train": BITS, "test": BITS * 7}, "'own.npz' is not binary: test holds values other than"),
    "widths": ({"train": BITS, "test": BITS[:, :3]}, "the images in 'own.npz' must have one shape"),
    "axes": ({"train": BITS[0], "test": BITS[0]}, "'own.npz' must hold numbers as (images, pixels)"),
    "parts": ({"images": BITS}, "'own.npz' must hold the arrays train, test"),
    "empty": ({"train": BITS[:0], "test": BITS}, "'own.npz' must hold at least one training image"),
    "objects": (
        {"train": np.array([{}]), "test": BITS},
        "'own.npz' is damaged or not an .npz file of numbers",
    ),
    "few": ({"train": BITS, "test": BITS}, "batch must not exceed the 6 training images of own, 100 was"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_users_own_images(kind: str) -> None:
    arrays, sentence = FILES[kind]
    np.savez("own.npz", **arrays)
    assert sentence in refused_and_nothing_lost(DIGITS, "target.dataset=own.npz")


def test_a_file_of_images_that_is_not_there_or_cut() -> None:
    command = f"{DIGITS} target.dataset=cut.npz"
    assert "'cut.npz' cannot be read" in refused_and_nothing_lost(command)
    np.savez("cut.npz", train=BITS, test=BITS)
    Path("cut.npz").write_bytes(Path("cut.npz").read_bytes()[:-30])
    assert "'cut.npz' is damaged" in refused_and_nothing_lost(command)


class Harm:
    """Would leave a file behind if it were unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("executed",)


def saved(path: Path, n_visible: int = 64, **metadata: Any) -> None:
    save_model(path, RBM(n_visible, 3), metadata)


def evil_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps(Harm()))


def evil_torch(path: Path) -> None:
    torch.save({"weight": Harm()}, path)


def cut_model(path: Path) -> None:
    saved(path, dataset="digits")
    path.write_bytes(path.read_bytes()[:-20])


def another(path: Path) -> None:
    torch.save({"fc.weight": torch.zeros(3, 4)}, path)


def other_size(path: Path) -> None:
    weights = RBM(64, 3).state_dict()
    torch.save(weights | {"hidden_bias": torch.zeros(9).to(weights["weight"])}, path)


MODELS: list[tuple[str, Callable[[Path], None], str]] = [
    ("evil.pt", evil_pickle, "evil.pt is no file of plain weights; nothing in it was executed."),
    ("evil.pt", evil_torch, "evil.pt is no file of plain weights; nothing in it was executed."),
    ("evil.safetensors", evil_pickle, "evil.safetensors is truncated or no safetensors file."),
    ("cut.safetensors", cut_model, "cut.safetensors is damaged: its content is not what was written."),
    ("cut.pt", cut_model, "The model file cut.pt "),
    ("other.pt", another, "other.pt holds another architecture: an RBM has the tensors data_mean,"),
    ("sizes.pt", other_size, "sizes.pt has hidden_bias of the shape (9,)"),
    ("notes.txt", lambda path: saved(path.with_suffix(".pt")), "model must be a saved model"),
]


@pytest.mark.parametrize(
    ("name", "make", "sentence"), MODELS, ids=[f"{m[0]}-{m[1].__name__}" for m in MODELS]
)
@pytest.mark.parametrize("command", ["task=evaluate model=", "target=rbm sampler=rbm_gibbs target.model="])
def test_a_file_that_is_no_model(
    tmp_path: Path, command: str, name: str, make: Callable[[Path], None], sentence: str
) -> None:
    make(tmp_path / name)
    assert sentence in refused_and_nothing_lost(f"{command}{name}")
    assert not Path("executed").exists()


@pytest.fixture
def own_files() -> None:
    """Data of 2 x 6 pixels (whole, without validation, grey, wrong), of 4 pixels, and models."""
    bits = np.random.default_rng(0).integers(0, 2, (8, 2, 6))
    np.savez("own.npz", train=bits, validation=bits, test=bits)
    np.savez("two.npz", train=bits, test=bits)
    np.savez("grey.npz", train=bits * 0.3, test=bits)
    np.savez("bright.npz", train=bits * 300, test=bits)
    np.savez("six.npz", train=BITS, test=BITS)
    deep = ResNetEBM(12, shape=(3, 4), width=2, blocks=1, halvings=1)
    save_model(Path("deep.safetensors"), deep, {"dataset": "own.npz"})
    for name, pixels, dataset in (("good", 64, "digits"), ("narrow", 10, "digits"), ("rbm", 12, "own.npz")):
        saved(Path(f"{name}.safetensors"), pixels, dataset=dataset)
    saved(Path("changed.safetensors"), 12, dataset="own.npz", data_fingerprint="of other images")
    saved(Path("nameless.safetensors"))


GOOD, DEEP = "model=good.safetensors", "model=deep.safetensors"
EVALUATION = [
    ("", "task=evaluate needs a saved model: model=PATH."),
    ("model=nowhere", "model must be a saved model or the folder of one, 'nowhere' was given, which is not"),
    ("model=.", "model must be a saved model or the folder of one, '.' was given, which is not there."),
    ("model=nameless.safetensors", "does not name its data set: give task.dataset=NAME."),
    ("model=narrow.safetensors", "task.dataset=digits has 64 pixels an image, the model narrow.safetensors"),
    (f"{GOOD} task.dataset=six.npz", "task.dataset=six.npz has 4 pixels an image, the model good"),
    (f"{GOOD} task.dataset=dgits", "task.dataset must be a file.npz or one of caltech, digits,"),
    (f"{GOOD} task.dataset=dgits", "'dgits' was given; did you mean 'digits'?"),
    (f"{GOOD} task.ais.temperatures=[0,1,1]", "a schedule with 1 followed by 1 was given."),
    (f"{GOOD} task.ais.chains=0", f"task.ais.chains must be {WHOLE} 2, 0 was given."),
    # Data of another size than a network expects.
    (f"{DEEP} task.dataset=digits", "digits has 64 pixels an image, the model deep.safetensors has 12 visib"),
    (f"{DEEP} task.dataset=own.npz", "own.npz has images of 2 x 6 pixels, the model deep.safetensors expect"),
    ("model=changed.safetensors", "holds now; task.dataset=own.npz measures it on these."),
    (DEEP, "has images of 2 x 6 pixels, the model deep.safetensors expects"),
]


@pytest.mark.usefixtures("own_files")
@pytest.mark.parametrize(("given", "sentence"), EVALUATION, ids=[sentence for _, sentence in EVALUATION])
def test_an_evaluation_is_refused(given: str, sentence: str) -> None:
    assert sentence in refused_and_nothing_lost("scale=smoke task=evaluate", given)


LEARN_DEEP = (
    "task=learn target=resnet_ebm target.width=2 target.blocks=1 target.halvings=1 task.batch=4 "
    "sampler=dmala sampler.step_size=0.15 target.dataset="
)
NOT_BINARY = "train holds values other than 0 and 1, for grey ones binarisation must be threshold, stochas"
DEEP_DATA = [
    ("own.npz +target.shape=[3,4]", "Unknown key 'target.shape'."),
    ("own.npz +target.n_visible=5", "Unknown key 'target.n_visible'."),
    ("own.npz task.batch=9", "task.batch must not exceed the 8 training images of own, 9"),
    ("two.npz task.validate_every=5", "task.validate_every must be null for two, which has no validation im"),
    ("grey.npz", f"'grey.npz' is not binary: {NOT_BINARY}"),
    ("bright.npz target.binarisation=dynamic", "'bright.npz' must hold values between 0 and 1 or whole ones"),
    ("own.npz target.binarisation=dynamical", "'dynamical' was given; did you mean 'dynamic'?"),
    ("mnist_dynamc", "'mnist_dynamc' was given; did you mean 'mnist_dynamic'?"),
    ("omniglot_burda", "omniglot_burda needs a folder of data sets, say where with"),
    ("omniglot_burda data.root=.", "put OMNIGLOT/chardata.mat (a MATLAB file) into '.'"),
    ("missing.npz", "'missing.npz' cannot be read: No such file or directory."),
]


@pytest.mark.usefixtures("own_files")
@pytest.mark.parametrize(("given", "sentence"), DEEP_DATA, ids=[given for given, _ in DEEP_DATA])
def test_data_that_a_network_cannot_learn_are_refused(given: str, sentence: str) -> None:
    assert sentence in refused_and_nothing_lost(f"scale=smoke {LEARN_DEEP}{given}")


@pytest.mark.usefixtures("own_files")
@pytest.mark.parametrize(
    ("target", "model", "expected", "given"),
    [
        ("resnet_ebm", "rbm", "targets.models.resnet_ebm.ResNetEBM", "RBM"),
        ("rbm", "deep", "targets.models.rbm.RBM", "ResNetEBM"),
    ],
)
def test_a_model_of_another_architecture_is_refused(
    target: str, model: str, expected: str, given: str
) -> None:
    chosen = f"target.model={model}.safetensors"
    said = refused_and_nothing_lost(f"scale=smoke target={target} sampler=dmala {chosen}")
    assert f"{chosen} must be a model of {expected}, a {given} was given." in said
