"""A model is trained once for each recipe and reused by every run that names it, whatever happens."""

from __future__ import annotations

import json
import os
import shutil
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
from runner.config.compose import compose_by_groups
from runner.config.data import datasets
from runner.config.overrides import Names
from runner.execution import signals
from runner.execution.errors import UserError
from runner.files.checkpoint import load_checkpoint
from runner.models import learned_target, model_files
from runner.models.recipe import Recipe, recipe_of, untrained
from runner.models.trained_model import TrainedModel
from runner.models.training import Training
from runner.models.training import loss as loss_module
from runner.models.training.batches import Batches
from runner.problem import cached_reference_sample
from runner.store.arrays.array_files import IMAGES, MOST, load_images
from samplers.reference.held_out_draws import HeldOutDraws
from tests.support.commands import FORK, Call, finished, in_child, measured, one, rows_by_run, stop_after
from tests.support.training import assert_same

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
DEEP = (
    *("scale=smoke", "task=learn", "target=resnet_ebm", "target.dataset=digits", "dtype=float64"),
    *("target.width=2", "target.blocks=1", "target.halvings=0", "sampler=gibbs", "seed=3"),
    *("task.iterations=12", "task.cd_steps=2", "task.chains=10", "task.batch=20", "task.buffer=40"),
    *("task.warm_up=4", "task.averaging=0.5", "task.validate_every=6"),
    *("task.validation.temperatures=30", "task.validation.chains=6"),
    *("task.ais.temperatures=10", "task.ais.chains=5", "task.ais.draw_steps=3"),
)
COMMANDS = {"run": RUN, "learn": LEARN, "deep": DEEP}


def one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit is in every model file, and may change while tests run in a working tree."""
    monkeypatch.setattr(model_files, "git", lambda: {"commit": "c0ffee", "dirty": False})


@pytest.fixture(autouse=True)
def _one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    one_commit(monkeypatch)


Straight = Callable[[str], Path]


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Straight:
    """The output root of a command of `COMMANDS` that went through undisturbed."""
    folder = tmp_path_factory.mktemp("straight")

    def root(name: str) -> Path:
        if not (folder / name).exists():
            with pytest.MonkeyPatch.context() as patch:
                one_commit(patch)
                finished(folder / name, *COMMANDS[name])
        return folder / name

    return root


def copied(root: Path) -> None:
    """Puts a copy of a root at ``outputs``, with runs that are not done; its models stay."""
    shutil.copytree(root, "outputs", dirs_exist_ok=True)
    for path in Path("outputs").glob("runs/*/summary.json"):
        path.unlink()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], list[str]]:
    """What was made, by any process: a line for each training and for each reference sample."""
    book = tmp_path / "made"
    book.touch()
    for module, name in ((learned_target, "_train"), (cached_reference_sample, "_make")):
        make = getattr(module, name)

        def noted(*arguments: Any, make: Any = make, what: str = name) -> None:
            with book.open("a") as file:
                file.write(f"{what}\n")
            time.sleep(0.3)  # so that another process that asks, asks meanwhile
            make(*arguments)

        monkeypatch.setattr(module, name, noted)
    return lambda: sorted(book.read_text().split())


def models(root: str | Path = "outputs") -> dict[str, tuple[dict[str, str], bytes]]:
    """Metadata, whose order in the file is that of a hash table, and the bytes of all weights, by model."""
    found = {}
    for path in Path(root).glob("models/*/model.safetensors"):
        content = path.read_bytes()
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(content[8:end])
        found[path.parent.name] = (header, content[end:])
    return found


def assert_same_as(straight: Path, root: str | Path = "outputs") -> None:
    """What lies in `root` is what lies in the undisturbed one."""
    mine, theirs = rows_by_run(root), rows_by_run(straight)
    assert mine
    assert mine == {name: theirs[name] for name in mine}
    found, expected = models(root), models(straight)
    assert found == {name: expected[name] for name in found}
    for path in Path(root).glob("models/*/ground_truth-*.safetensors"):
        if ".bad-" not in path.name:
            other = one(f"models/{path.parent.name}/ground_truth-*.safetensors", straight)
            assert_same(load_file(path), load_file(other))
    assert not list(Path(root).glob("models/*/*.partial"))


def test_the_runs_of_a_sweep_share_a_model_and_its_sample(call: Call, made: Callable[[], list[str]]) -> None:
    assert call("-m", *RUN, "seed=[0],[1,2]").status == 0
    assert call(*RUN, "task.steps=10").status == 0
    assert made() == ["_make", "_train"]
    assert len(rows_by_run()) == 4
    for path in Path("outputs/runs").glob("*/summary.json"):
        summary = json.loads(path.read_text())
        assert summary["model"] == str(one("models/*/model.safetensors"))
        assert any("split of our own" in note for note in summary["notes"])


def test_two_processes_ask_at_once_and_one_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Callable[[], list[str]], straight: Straight
) -> None:
    monkeypatch.chdir(tmp_path)
    together = FORK.Barrier(2)
    both = [in_child((*RUN, f"seed={seed}"), together.wait) for seed in (0, 1)]
    for process in both:
        process.join(PATIENCE)
        assert process.exitcode == 0
    assert made() == ["_make", "_train"]
    found, alone = rows_by_run(), rows_by_run(straight("run"))
    assert len(found) == 2
    (run_id,) = set(found) & set(alone)
    assert found[run_id] == alone[run_id]


@pytest.mark.parametrize("error", [ValueError, IndexError])
def test_steps_that_draw_from_the_reference_sample_are_compiled_once_it_is_there(
    call: Call, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they raise before it is there, as kernels of the user's own may."""
    drawn = HeldOutDraws.step

    def step(self: HeldOutDraws, target: Any, *rest: Any) -> Any:
        if not len(target.held_out):
            raise error("no draws")
        return drawn(self, target, *rest)

    monkeypatch.setattr(HeldOutDraws, "step", step)
    ended = call(*RUN, "sampler=ground_truth_draws", "metric=log_mmd", "compile=true")
    assert ended.status == 0, ended.err
    assert len(rows_by_run()) == 1


def test_model_seeds_are_models_of_their_own(call: Call) -> None:
    assert call("-m", *RUN, "target.model_seed=0,1").status == 0
    first, second = (load_file(path) for path in Path("outputs").glob("models/*/model.safetensors"))
    assert not torch.equal(first["weight"], second["weight"])
    assert len(rows_by_run()) == 2


HARM: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[:-9],
    "emptied": lambda content: b"",
    "one bit of the last weight": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
}


DAMAGED = [*(("model", harm) for harm in HARM), ("ground_truth-*", "cut"), ("ground_truth-*", "emptied")]


@pytest.mark.parametrize(("name", "harm"), DAMAGED)
def test_a_damaged_model_or_reference_sample_is_set_aside_and_made_again(
    call: Call, straight: Straight, name: str, harm: str, made: Callable[[], list[str]]
) -> None:
    copied(straight("run"))
    path = one(f"models/*/{name}.safetensors")
    damaged = HARM[harm](path.read_bytes())
    path.write_bytes(damaged)
    ended = call(*RUN)
    assert ended.status == 0
    assert f"{path} cannot be read (it is " in ended.err
    assert ended.err.count("is made again") == 1
    assert path.with_name(f"{path.stem}.bad-1.safetensors").read_bytes() == damaged
    assert name == "model" or made() == ["_make"]
    assert_same_as(straight("run"))


@pytest.mark.parametrize("harm", ['{"history": ', "{}", None])
def test_a_damaged_training_report_is_made_again(call: Call, straight: Straight, harm: str | None) -> None:
    copied(straight("learn"))
    report = one("models/*/model.json")
    report.unlink() if harm is None else report.write_text(harm)
    ended = call(*LEARN)
    assert ended.status == 0, ended
    assert "is made again" in ended.err
    assert_same_as(straight("learn"))


STOPPED = [("run", Training), ("learn", Training), ("run", ReferenceChains)]


@pytest.mark.parametrize(("name", "cls"), STOPPED)
def test_stopped_in_the_middle_and_repeated(
    call: Call, straight: Straight, monkeypatch: pytest.MonkeyPatch, name: str, cls: Any
) -> None:
    argv = COMMANDS[name]
    with monkeypatch.context() as patch:
        stop_after(patch, cls, 2)
        ended = call(*argv)
    assert ended.status == 75
    assert "repeat the command to continue" in ended.err
    assert not rows_by_run()
    checkpoint = one("models/*/*.pt")
    saved = load_checkpoint(checkpoint)
    assert saved["iteration"] == 20 if cls is Training else saved["step"] == 40
    signals.forget()
    advanced: list[int] = []
    advance = cls.advance

    def counted(self: Any, *arguments: Any, **options: Any) -> None:
        advanced.append(1)
        advance(self, *arguments, **options)

    shutil.copytree("outputs", "garbage")
    with monkeypatch.context() as patch:
        patch.setattr(cls, "advance", counted)
        assert call(*argv).status == 0
    assert len(advanced) == (2 if cls is Training else 1), "it did not go on from the checkpoint"
    assert_same_as(straight(name))
    assert not list(Path("outputs").glob("models/*/*.pt"))
    # A checkpoint that is garbage is set aside.
    checkpoint = one("models/*/*.pt", "garbage")
    checkpoint.write_bytes(checkpoint.read_bytes()[:-50])
    ended = call(*argv, "output_root=garbage")
    assert ended.status == 0
    assert "it is damaged: its content is not what was written" in ended.err
    assert checkpoint.with_name(f"{checkpoint.stem}.bad-1.pt").exists()
    assert_same_as(straight(name), "garbage")


def test_a_process_that_is_killed_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL as soon as a checkpoint of the training, then one of the reference sample, is there."""
    monkeypatch.chdir(tmp_path)
    longer = ("target.training.iterations=200", "target.ground_truth.steps=1000", "checkpoint.seconds=0")
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
    assert_same_as(Path("undisturbed"))


@pytest.mark.parametrize("name", ["run", "learn"])
def test_seeds_of_one_job_give_the_same_numbers_alone(call: Call, straight: Straight, name: str) -> None:
    """The seed 0 of two, and its model where each seed learns one."""
    assert call(*COMMANDS[name], "seed=[2,0]").status == 0
    together, alone = rows_by_run(), rows_by_run(straight(name))
    assert alone.items() <= together.items()
    zero, two = (sorted(row[1:] for row in found) for found in together.values())
    assert zero != two
    assert models(straight(name)).items() <= models().items()


def test_learning_that_meets_nan_keeps_the_last_good_checkpoint(
    call: Call, straight: Straight, monkeypatch: pytest.MonkeyPatch
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
    assert_same_as(straight("learn"))


def test_a_learning_rate_that_is_too_large_stops_every_run_that_needs_the_model(call: Call) -> None:
    ended = call(*RUN, "dtype=float32", "target.training.learning_rate=1e38", "seed=[0,1]")
    assert ended.status == 1
    assert "Training stopped at iteration" in ended.err
    assert "Traceback" not in ended.err
    assert len(list(Path("outputs").glob("runs/*/failure.json"))) == 2
    assert not list(Path("outputs").glob("models/*/model.*"))


# --- deep models and dynamic data -----------------------------------------------------------------------


def report_of(root: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(one("models/*/model.json", root).read_text())
    return found


def test_stopped_in_a_validation(call: Call, straight: Straight, monkeypatch: pytest.MonkeyPatch) -> None:
    advance = Training.advance
    for moment in (6, 12):

        def stopped(self: Training, *arguments: Any, at: int = moment, **options: Any) -> None:
            advance(self, *arguments, **options)
            if self.selection.underway and self.iteration == at:
                os.kill(os.getpid(), signal.SIGTERM)

        with monkeypatch.context() as patch:
            patch.setattr(Training, "advance", stopped)
            assert call(*DEEP).status == 75
        saved = load_checkpoint(one("models/*/checkpoint.pt"))
        assert saved["iteration"] == moment
        assert 0 < saved["validation"]["walk"]["step"] < 30
        signals.forget()
    assert call(*DEEP).status == 0
    assert not list(Path("outputs").glob("models/*/checkpoint.pt"))
    for name in ("model", "samples"):
        files = [one(f"models/*/{name}.safetensors", root) for root in ("outputs", straight("deep"))]
        assert_same(*map(load_file, files))
    report, cut = report_of(straight("deep")), report_of("outputs")
    for name in ("validations", "history"):
        assert_same(report[name], cut[name])
    assert [each["iteration"] for each in report["validations"]] == [6, 12]
    assert report["best"] == max(report["validations"], key=lambda each: each["log_likelihood"])
    last = report["history"][-1]["values"]["validation_log_likelihood"]
    assert last == report["validations"][-1]["log_likelihood"]


def test_a_run_has_the_score_of_the_model_that_results(straight: Straight) -> None:
    """That of the best validation, here the first one, beside that of the last."""
    first, last = (each["log_likelihood"] for each in report_of(straight("deep"))["validations"])
    found = measured(straight("deep"))
    assert first > last == found["validation_log_likelihood"]
    assert found["best_validation_log_likelihood"] == first


def test_the_last_chains_and_test_images_are_stored_as_pictures(straight: Straight) -> None:
    samples = load_file(one("models/*/samples.safetensors", straight("deep")))["samples"]
    assert samples.shape == (10, 64)
    assert samples.dtype == torch.uint8
    assert set(samples.unique().tolist()) == {0, 1}
    run = one("runs/*", straight("deep"))
    draws, images = load_images(run), load_images(run, IMAGES)
    assert draws is not None
    assert images is not None
    assert draws.reshape(len(draws), -1).tolist() == samples.tolist()
    test = datasets.load_dataset("digits", None, None).test
    places = [place * len(test) // MOST for place in range(MOST)]
    assert images.reshape(MOST, -1).tolist() == test[places].tolist()


def test_learning_from_dynamic_digits_stopped_and_continued_ends_with_the_same_model(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (*LEARN, "target.binarisation=dynamic")
    digits, at, seen = datasets.load_dataset("digits", "dynamic", None), Batches.at, []

    def noted(self: Batches, iteration: int) -> torch.Tensor:
        seen.append(self.grey is not None and torch.equal(self.grey, digits.grey) and self.white == 16)
        return at(self, iteration)

    with monkeypatch.context() as patch:
        patch.setattr(Batches, "at", noted)
        assert call(*command, "output_root=whole").status == 0
    assert seen == [True] * 40
    with monkeypatch.context() as patch:
        stop_after(patch, Training, 2)
        assert call(*command).status == 75
    signals.forget()
    assert one("models/*/checkpoint.pt").is_file()
    assert call(*command).status == 0
    assert_same(*(load_file(one("models/*/model.safetensors", root)) for root in ("whole", "outputs")))
    report = report_of("outputs")
    assert report["binarisation"] == "dynamic"
    assert report["recipe"]["data"] == {"name": "digits", "binarisation": "dynamic", "seed": 0}
    assert report["data_fingerprint"] == digits.fingerprint()


# --- names ----------------------------------------------------------------------------------------------


def recipe(*overrides: str) -> Recipe:
    return recipe_of(compose_by_groups([*RUN, *overrides], Names([]).groups))


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
    "target.binarisation=dynamic",
    "dtype=float32",
]
SAME = [
    *("data.root=elsewhere", "output_root=elsewhere", "checkpoint.seconds=1", "threads=2", "seed=5"),
    *("target.ground_truth.steps=100", "target.ground_truth.chains=7", "sampler=dula", "metric=jump"),
    *("task.steps=7", "target.binarisation=threshold"),
]


def test_every_ingredient_of_a_recipe_changes_the_model_and_nothing_else_does() -> None:
    plain = recipe().model_id
    ids = [plain, *(recipe(change).model_id for change in CHANGES)]
    assert len(set(ids)) == len(ids)
    for change in SAME:
        assert recipe(change).model_id == plain, change


def test_of_a_data_set_only_what_decides_its_images_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    still, drawn = recipe(), recipe("target.binarisation=stochastic")
    plain, spec = still.model_id, dict(datasets.option("dataset", "digits", ""))
    noted = [{**variant, "note": "another"} for variant in spec["variants"]]
    for same in ({"variants": noted}, {"seed": 5}, {"shape": [4, 16]}):
        monkeypatch.setattr(datasets, "option", lambda *_, same=same: spec | same)
        assert still.model_id == plain
    monkeypatch.setattr(datasets, "option", lambda *_: spec | {"threshold": 0.4})
    assert still.model_id != plain
    before = drawn.model_id
    monkeypatch.setattr(datasets, "option", lambda *_: spec | {"seed": 5})
    assert drawn.model_id not in (before, still.model_id)


def test_a_model_of_other_images_under_the_same_name_is_refused() -> None:
    digits = datasets.load_dataset("digits", None, None)
    other = datasets.load_dataset("digits", "stochastic", None)
    model = TrainedModel(untrained(recipe(), digits), Path("x"), {"data_fingerprint": digits.fingerprint()})
    model.check_data(digits)
    with pytest.raises(UserError, match="was trained on other images than the data set digits holds now"):
        model.check_data(other)


def test_a_class_that_is_no_target_cannot_be_learned() -> None:
    plain = recipe()
    other = replace(plain, target={**plain.target, "_target_": "torch.nn.Identity"})
    with pytest.raises(
        UserError, match=r"target\._target_=torch\.nn\.Identity is no targets\.target\.Target"
    ):
        untrained(other, datasets.load_dataset("digits", None, None))
