"""A model is trained once for each recipe and reused by every run that names it, whatever happens."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from metrics.two_sample.reference_chains import ReferenceChains
from runner.__main__ import main
from runner.config import datasets
from runner.config.compose import compose
from runner.execution import signals
from runner.execution.checkpoint import load_checkpoint
from runner.execution.errors import UserError
from runner.models import learned_target, model_files
from runner.models.recipe import recipe_of, untrained
from runner.models.trained_model import TrainedModel
from runner.models.training import Training
from runner.models.training import loss as loss_module
from runner.problem import cached_reference_sample
from tests.support.commands import Call

PATIENCE = 300
"""Seconds after which a child counts as hanging."""

RECIPE = (
    *("scale=smoke", "target=rbm", "target.dataset=digits", "target.n_hidden=4", "dtype=float64"),
    *("target.training.cd_steps=1", "target.training.iterations=40"),
    *("target.ground_truth.steps=60", "target.ground_truth.chains=20", "target.ground_truth.keeps=2"),
)
RUN = (*RECIPE, "sampler=rbm_gibbs", "metric=[log_mmd,jump]", "task.steps=20", "task.chains=4")
LEARN = (
    *("scale=smoke", "task=learn", "target=rbm", "target.dataset=digits", "target.n_hidden=4"),
    *("sampler=dula", "sampler.step_size=0.5", "task.iterations=40", "task.cd_steps=1", "task.chains=20"),
    *("task.ais.temperatures=20", "task.ais.chains=10", "task.ais.draw_steps=5", "dtype=float64"),
)
TIMES = ("ais_seconds",)

fork = multiprocessing.get_context("fork")


def values(root: str | Path = "outputs") -> dict[str, list[tuple[str, ...]]]:
    """Step, evaluations, metric and value of every row, by run id; what is a time is left out."""
    found = {}
    for path in sorted(Path(root).glob("runs/*/metrics.csv")):
        rows = list(csv.DictReader(path.read_text().splitlines()))
        kept = ("seed", "step", "evaluations", "metric", "value")
        found[path.parent.name] = [
            tuple(row[key] for key in kept) for row in rows if row["metric"] not in TIMES
        ]
    return found


def one(pattern: str, root: str | Path = "outputs") -> Path:
    """The only file that fits."""
    (path,) = Path(root).glob(pattern)
    return path


def forget_runs(root: str | Path = "outputs") -> None:
    """Makes every run one that is not done; its models stay."""
    for path in Path(root).glob("runs/*/summary.json"):
        path.unlink()


def stop_after(monkeypatch: pytest.MonkeyPatch, cls: type, calls: int) -> None:
    """Lets a SIGTERM come in during the given call of `cls.advance`."""
    advance, seen = cls.advance, []  # type: ignore[attr-defined]

    def interrupted(self: Any, *arguments: Any) -> None:
        advance(self, *arguments)
        seen.append(1)
        if len(seen) == calls:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(cls, "advance", interrupted)


@pytest.fixture(autouse=True)
def _one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit is in every model file, and may change while tests run in a working tree."""
    monkeypatch.setattr(model_files, "git", lambda: {"commit": "c0ffee", "dirty": False})


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], list[str]]:
    """What was made, by any process: a line for each training and for each ground truth."""
    book = tmp_path / "made"
    book.touch()
    for module, name in ((learned_target, "_train"), (cached_reference_sample, "_make")):
        make = getattr(module, name)

        def noted(*arguments: Any, make: Any = make, what: str = name) -> None:
            with book.open("a") as file:
                file.write(f"{what}\n")
            time.sleep(0.3)  # so that whoever else asks, asks meanwhile
            make(*arguments)

        monkeypatch.setattr(module, name, noted)
    return lambda: sorted(book.read_text().split())


def in_child(argv: tuple[str, ...], before: Callable[[], Any] = lambda: None) -> Any:
    """The command in a forked process."""

    def child() -> None:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        before()
        os._exit(main(argv))

    process = fork.Process(target=child)
    process.start()
    return process


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output root in which the run, and the learning run, went through undisturbed."""
    root = tmp_path_factory.mktemp("straight") / "outputs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_files, "git", lambda: {"commit": "c0ffee", "dirty": False})
        for argv in (RUN, LEARN):
            process = in_child((*argv, f"output_root={root}"))
            process.join(PATIENCE)
            assert process.exitcode == 0
    return root


def models(root: str | Path = "outputs") -> dict[str, tuple[dict[str, str], bytes]]:
    """Metadata, whose order in the file is that of a hash table, and the bytes of all weights, by model."""
    found = {}
    for path in Path(root).glob("models/*/model.safetensors"):
        content = path.read_bytes()
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:end])
        found[path.parent.name] = (header, content[end:])
    return found


def same_as(straight: Path, root: str | Path = "outputs") -> None:
    """What lies in `root` is what lies in the undisturbed one."""
    mine, theirs = values(root), values(straight)
    assert mine
    assert mine == {name: theirs[name] for name in mine}
    kept, expected = models(root), models(straight)
    assert kept == {name: expected[name] for name in kept}
    for path in Path(root).glob("models/*/ground_truth-*.safetensors"):
        if ".bad-" not in path.name:
            other = load_file(one(f"models/{path.parent.name}/ground_truth-*.safetensors", straight))
            assert all(torch.equal(tensor, other[name]) for name, tensor in load_file(path).items())
    assert not list(Path(root).glob("models/*/*.partial"))


def test_the_runs_of_a_sweep_share_one_model_and_its_truth(call: Call, made: Callable[[], list[str]]) -> None:
    assert call("-m", *RUN, "seed=[0],[1,2]").status == 0
    assert call(*RUN, "task.steps=10").status == 0
    assert made() == ["_make", "_train"]
    assert len(values()) == 4
    for path in Path("outputs/runs").glob("*/summary.json"):
        summary = json.loads(path.read_text())
        assert summary["model"] == str(one("models/*/model.safetensors"))
        assert any("split of our own" in note for note in summary["notes"])


def test_two_processes_ask_at_once_and_one_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Callable[[], list[str]], straight: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    together = fork.Barrier(2)
    both = [in_child((*RUN, f"seed={seed}"), together.wait) for seed in (0, 1)]
    for process in both:
        process.join(PATIENCE)
        assert process.exitcode == 0
    assert made() == ["_make", "_train"]
    assert len(values()) == 2
    (run_id,) = set(values()) & set(values(straight))
    assert values()[run_id] == values(straight)[run_id]


def test_model_seeds_are_models_of_their_own(call: Call) -> None:
    assert call("-m", *RUN, "target.model_seed=0,1").status == 0
    zero, one_ = (load_file(path) for path in Path("outputs").glob("models/*/model.safetensors"))
    assert not torch.equal(zero["weight"], one_["weight"])
    assert len(values()) == 2


def cut(content: bytes) -> bytes:
    return content[:-9]


def bent(content: bytes) -> bytes:
    """One bit of the last weight."""
    return content[:-1] + bytes([content[-1] ^ 1])


def emptied(content: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("harm", [cut, bent, emptied])
def test_a_damaged_model_is_set_aside_and_trained_again(
    call: Call, straight: Path, harm: Callable[[bytes], bytes]
) -> None:
    call(*RUN)
    path = one("models/*/model.safetensors")
    damaged = harm(path.read_bytes())
    path.write_bytes(damaged)
    forget_runs()
    ended = call(*RUN)
    assert ended.status == 0
    assert "cannot be read (The model file" in ended.err
    assert ended.err.count("is made again") == 1
    assert path.with_name("model.bad-1.safetensors").read_bytes() == damaged
    same_as(straight)


def test_a_damaged_report_of_a_training_is_made_again(call: Call, straight: Path) -> None:
    call(*LEARN)
    for harm in ('{"history": ', "{}", None):
        report = one("models/*/model.json")
        report.unlink() if harm is None else report.write_text(harm)
        forget_runs()
        ended = call(*LEARN)
        assert ended.status == 0, ended
        assert "is made again" in ended.err
        same_as(straight)


@pytest.mark.parametrize("harm", [cut, emptied])
def test_damaged_ground_truth_is_set_aside_and_made_again(
    call: Call, straight: Path, harm: Callable[[bytes], bytes], made: Callable[[], list[str]]
) -> None:
    call(*RUN)
    path = one("models/*/ground_truth-*.safetensors")
    damaged = harm(path.read_bytes())
    path.write_bytes(damaged)
    forget_runs()
    ended = call(*RUN)
    assert ended.status == 0
    assert "cannot be read" in ended.err
    assert "is made again" in ended.err
    assert path.with_name(f"{path.stem}.bad-1.safetensors").read_bytes() == damaged
    assert made() == ["_make", "_make", "_train"]
    same_as(straight)


@pytest.mark.parametrize(("argv", "cls"), [(RUN, Training), (LEARN, Training), (RUN, ReferenceChains)])
def test_stopped_in_the_middle_and_repeated(
    call: Call, straight: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...], cls: type
) -> None:
    with monkeypatch.context() as patch:
        stop_after(patch, cls, 2)
        ended = call(*argv)
    assert ended.status == 75
    assert "repeat the command to continue" in ended.err
    assert not values()
    saved = load_checkpoint(one("models/*/*.pt"))
    assert saved["iteration"] == 20 if cls is Training else saved["step"] == 40
    signals.forget()
    begun: list[int] = []
    advance = cls.advance  # type: ignore[attr-defined]

    def counted(self: Any, *arguments: Any) -> None:
        begun.append(1)
        advance(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(cls, "advance", counted)
        assert call(*argv).status == 0
    assert len(begun) == (2 if cls is Training else 1), "it did not go on from the checkpoint"
    same_as(straight)
    assert not list(Path("outputs").glob("models/*/*.pt"))


def test_a_process_that_is_killed_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL as soon as a checkpoint of the training, then one of the ground truth, is there."""
    monkeypatch.chdir(tmp_path)
    longer = ("target.training.iterations=400", "target.ground_truth.steps=2000", "checkpoint.seconds=0")
    for sign in ("models/*/checkpoint.pt", "models/*/ground_truth-*.pt"):
        process = in_child((*RUN, *longer))
        deadline = time.monotonic() + PATIENCE
        while not list(Path("outputs").glob(sign)):
            assert time.monotonic() < deadline
            assert process.exitcode is None, "it ended before it could be killed"
            time.sleep(0.001)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    for root in ("outputs", "undisturbed"):
        process = in_child((*RUN, *longer, f"output_root={root}"))
        process.join(PATIENCE)
        assert process.exitcode == 0
    same_as(Path("undisturbed"))


@pytest.mark.parametrize("cls", [Training, ReferenceChains])
def test_a_checkpoint_that_is_garbage_is_set_aside(
    call: Call, straight: Path, monkeypatch: pytest.MonkeyPatch, cls: type
) -> None:
    with monkeypatch.context() as patch:
        stop_after(patch, cls, 2)
        assert call(*RUN).status == 75
    signals.forget()
    checkpoint = one("models/*/*.pt")
    checkpoint.write_bytes(checkpoint.read_bytes()[:-50])
    ended = call(*RUN)
    assert ended.status == 0
    assert "truncated or no checkpoint" in ended.err
    assert checkpoint.with_name(f"{checkpoint.stem}.bad-1.pt").exists()
    same_as(straight)


@pytest.mark.parametrize("argv", [RUN, LEARN])
def test_seeds_of_one_job_give_the_same_numbers_alone(call: Call, argv: tuple[str, ...]) -> None:
    assert call(*argv, "seed=[2,0]", "output_root=together").status == 0
    for seed in (0, 2):
        assert call(*argv, f"seed={seed}", "output_root=alone").status == 0
    assert values("together") == values("alone")
    assert len(values("alone")) == 2
    zero, two = values("alone").values()
    assert [row[-1] for row in zero] != [row[-1] for row in two]
    assert models("together") == models("alone")


def test_learning_that_meets_nan_keeps_the_last_good_checkpoint(
    call: Call, straight: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss, seen = loss_module.contrastive_loss, []

    def broken(*arguments: Any) -> torch.Tensor:
        seen.append(1)
        return loss(*arguments) * (float("nan") if len(seen) == 25 else 1.0)

    with monkeypatch.context() as patch:
        patch.setattr(loss_module, "contrastive_loss", broken)
        ended = call(*LEARN)
    assert ended.status == 1
    checkpoint = one("models/*/checkpoint.pt")
    assert "Training stopped at iteration 25, where the loss is not finite (loss nan)" in ended.err
    assert f"the last good checkpoint is kept at {checkpoint}" in ended.err
    assert "Traceback" not in ended.err
    failure = json.loads(one("runs/*/failure.json").read_text())
    assert failure["error"] == "TrainingError"
    assert load_checkpoint(checkpoint)["iteration"] == 20
    assert not list(Path("outputs").glob("models/*/model.*"))
    assert call(*LEARN).status == 0
    same_as(straight)


def test_a_learning_rate_that_is_too_large_stops_every_run_that_needs_the_model(call: Call) -> None:
    ended = call(*RUN, "dtype=float32", "target.training.learning_rate=1e38", "seed=[0,1]")
    assert ended.status == 1
    assert "Training stopped at iteration" in ended.err
    assert "Traceback" not in ended.err
    assert len(list(Path("outputs").glob("runs/*/failure.json"))) == 2
    assert not list(Path("outputs").glob("models/*/model.*"))


def model_id(*overrides: str) -> str:
    return recipe_of(compose([*RUN, *overrides])).model_id


CHANGES = [
    "target.training.method=pcd",
    "target.training.cd_steps=2",
    "target.training.iterations=41",
    "target.training.batch=50",
    "target.training.learning_rate=0.002",
    "target.training.sampler._target_=samplers.discrete.dula.DULA",
    "target.n_hidden=5",
    "target.model_seed=1",
    "target.dataset=mnist",
    "target.binarisation=stochastic",
    "dtype=float32",
]


def test_every_ingredient_of_a_recipe_changes_the_model() -> None:
    ids = [model_id(), *(model_id(change) for change in CHANGES)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    "change",
    [
        "data.root=elsewhere",
        "output_root=elsewhere",
        "target.ground_truth.steps=100",
        "target.ground_truth.chains=7",
        "sampler=dula",
        "metric=jump",
        "task.steps=7",
        "seed=5",
        "checkpoint.seconds=1",
        "threads=2",
        "target.binarisation=threshold",
    ],
)
def test_what_is_no_part_of_a_recipe_changes_no_model(change: str) -> None:
    assert model_id(change) == model_id()


def test_of_a_data_set_only_what_decides_its_images_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, spec = model_id(), dict(datasets._option("digits", ""))
    noted = [{**variant, "note": "another"} for variant in spec["variants"]]
    for same in ({"variants": noted}, {"seed": 5}, {"shape": [4, 16]}):
        monkeypatch.setattr(datasets, "_option", lambda name, key, same=same: spec | same)
        assert model_id() == plain
    monkeypatch.setattr(datasets, "_option", lambda name, key: spec | {"threshold": 0.4})
    assert model_id() != plain
    monkeypatch.setattr(datasets, "_option", lambda name, key: spec | {"seed": 5})
    assert model_id("target.binarisation=stochastic") != model_id()


def test_a_model_of_other_images_under_the_same_name_is_refused() -> None:
    digits = datasets.load_dataset("digits", None, None)
    other = datasets.load_dataset("digits", "stochastic", None)
    metadata = {"data_fingerprint": digits.fingerprint()}
    kept = TrainedModel(untrained(recipe_of(compose(RUN)), digits), Path("x"), metadata)
    kept.check_data(digits)
    with pytest.raises(UserError, match="was trained on other images than the data set digits holds now"):
        kept.check_data(other)


def test_a_class_whose_models_cannot_be_kept_is_refused() -> None:
    recipe = recipe_of(compose(RUN))
    other = replace(recipe, target={**recipe.target, "_target_": "torch.nn.Identity"})
    with pytest.raises(UserError, match=r"target\._target_=torch\.nn\.Identity cannot be learned"):
        untrained(other, datasets.load_dataset("digits", None, None))
