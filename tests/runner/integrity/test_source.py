"""Results say which source code computed them, and so does a warning where it changed in between."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from runner.execution import manifest, signals
from runner.integrity.source import distinct_sources, mixture, named, source_digest
from runner.models.learned_target import _TrainingBlocks
from runner.tasks.images.fitting import Fit
from runner.tasks.sample import Sampling
from tests.support.commands import Call, one, stop_after, summary

SMALL = ("target=bernoulli4", "sampler=gibbs", "metric=tv", "task.steps=250", "task.chains=3", "seed=[0,1]")
TRAINED = (
    *("scale=smoke", "target=rbm", "target.dataset=digits", "target.n_hidden=4"),
    *("target.training.cd_steps=1", "target.training.iterations=30", "target.ground_truth.steps=20"),
    *("target.ground_truth.chains=20", "target.ground_truth.keeps=2", "sampler=rbm_gibbs"),
    *("metric=jump", "task.steps=20", "task.chains=4"),
)
OTHER = "0123456789abcdef"


def stopped_under(source: str, call: Call, argv: tuple[str, ...], work: type) -> None:
    """Stops a command in the first block of its work, as if other source code had computed that."""
    with pytest.MonkeyPatch.context() as patched:
        stop_after(patched, work, 1)
        patched.setattr(manifest, "source_digest", lambda: source)
        assert call(*argv).status == 75
    signals.forget()


def sources(path: Path) -> list[str]:
    """What a summary or a report names."""
    return [source["source"] for source in json.loads(path.read_text())["sources"]]


def test_the_digest_is_of_every_python_file_and_its_path(tmp_path: Path) -> None:
    (tmp_path / "runner" / "store").mkdir(parents=True)
    file = tmp_path / "runner" / "store" / "run.py"
    file.write_text("a = 1\n")
    first = source_digest.__wrapped__(tmp_path)
    (tmp_path / "runner" / "notes.txt").write_text("no code")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test.py").write_text("no code of a run")
    assert source_digest.__wrapped__(tmp_path) == first
    file.write_text("a = 2\n")
    changed = source_digest.__wrapped__(tmp_path)
    file.rename(tmp_path / "runner" / "run.py")
    assert len({first, changed, source_digest.__wrapped__(tmp_path)}) == 3


def test_sources_are_distinct_by_their_digest_and_a_note_names_them() -> None:
    one_, other = {"source": "ab", "commit": "0123456789"}, {"source": "cd", "commit": None}
    assert distinct_sources([one_, other, dict(one_)]) == [one_, other]
    assert (named(one_), named(other)) == ("ab (commit 0123456)", "cd")
    assert mixture([one_]) == []
    (note,) = mixture([one_, other])
    assert note.endswith("under other source code: ab (commit 0123456), then cd")


def attempts(root: Path = Path("outputs")) -> list[list[str]]:
    """The source of each attempt, by run."""
    paths = sorted(root.glob("runs/*/manifest.json"))
    return [[each["source"] for each in json.loads(path.read_text())["attempts"]] for path in paths]


def test_a_run_that_is_not_interrupted_names_one_source(call: Call) -> None:
    assert call(*SMALL).status == 0
    assert attempts() == [[source_digest()]] * 2
    for path in Path("outputs").glob("runs/*/summary.json"):
        assert sources(path) == [source_digest()]
        assert json.loads(path.read_text())["notes"] == []


def test_a_run_resumed_under_other_source_says_so(call: Call) -> None:
    stopped_under(OTHER, call, SMALL, Sampling)
    ended = call(*SMALL)
    assert ended.status == 0
    (warning,) = ended.err.splitlines()
    assert "was written by other source code, " + OTHER in warning
    assert attempts() == [[OTHER, source_digest()]] * 2
    for path in Path("outputs").glob("runs/*/summary.json"):
        assert sources(path) == [OTHER, source_digest()]
        (note,) = json.loads(path.read_text())["notes"]
        assert OTHER in note


def test_source_that_changed_twice_is_named_thrice(call: Call) -> None:
    for digest in ("a", "b"):
        stopped_under(digest, call, SMALL, Sampling)
    assert call(*SMALL).status == 0
    assert sources(next(Path("outputs").glob("runs/*/summary.json"))) == ["a", "b", source_digest()]


def test_a_run_that_starts_anew_under_other_source_names_that_alone(call: Call) -> None:
    stopped_under(OTHER, call, SMALL, Sampling)
    one("runs/*/checkpoint.pt").unlink()
    ended = call(*SMALL)
    assert (ended.status, ended.err) == (0, "")
    assert sources(next(Path("outputs").glob("runs/*/summary.json"))) == [source_digest()]


def test_images_and_networks_made_under_two_sources_mark_the_runs_that_use_them(call: Call) -> None:
    argv = (
        *("task=autoencode", "task.autoencoder.networks=1", "task.autoencoder.epochs=3", "scale=smoke"),
        *("target=rbm", "target.dataset=digits", "target.n_hidden=4", "target.training.iterations=5"),
        *("target.ground_truth.steps=10", "target.ground_truth.keeps=2", "target.ground_truth.chains=10"),
        *("sampler=dmala", "sampler.step_size=0.5", "task.samples=130", "task.chains=20", "task.thinning=4"),
    )
    stopped_under("sampling", call, argv, Sampling)
    stopped_under("fitting", call, argv, Fit)
    assert call(*argv).status == 0
    mixed = [note for note in summary()["notes"] if "under other source code" in note]
    assert [note.split(": ")[-1].split(" (")[0] for note in mixed] == ["sampling", "fitting"]


def test_a_model_trained_under_two_sources_marks_the_runs_that_sample_it(call: Call) -> None:
    stopped_under(OTHER, call, TRAINED, _TrainingBlocks)
    assert call(*TRAINED).status == 0
    assert sources(one("models/*/model.json")) == [OTHER, source_digest()]
    assert any(OTHER in note for note in summary()["notes"])
    assert sources(one("runs/*/summary.json")) == [source_digest()]


def test_a_run_on_a_model_that_other_source_trained_says_so(call: Call) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(manifest, "source_digest", lambda: OTHER)
        assert call(*TRAINED).status == 0
    told = f"at least one run has a model that other source code trained: {OTHER}"
    assert not any(told in note for note in summary()["notes"]), "its own source trained it"
    model = one("models/*/model.json").parent
    evaluated = ("task=evaluate", f"model={model}", "scale=smoke", "task.ais.chains=5")
    for number, argv in enumerate([(*TRAINED, "seed=1"), (*TRAINED[1:], f"target.model={model}"), evaluated]):
        root = f"again{number}" if number else "outputs"
        assert call(*argv, f"output_root={root}").status == 0
        newest = max(Path(root).glob("runs/*/summary.json"), key=lambda path: path.stat().st_mtime_ns)
        assert any(told in note for note in json.loads(newest.read_text())["notes"])


@pytest.mark.parametrize("many", [(), ("-m",)])
def test_files_that_are_edited_while_a_model_trains_have_computed_nothing(
    call: Call, monkeypatch: pytest.MonkeyPatch, many: tuple[str, ...]
) -> None:
    on_disk, advance = ["as imported"], _TrainingBlocks.advance

    def edited(self: _TrainingBlocks) -> None:
        on_disk[0] = "edited"
        advance(self)

    monkeypatch.setattr(manifest, "source_digest", functools.cache(lambda: on_disk[0]))
    monkeypatch.setattr(_TrainingBlocks, "advance", edited)
    assert call(*many, *TRAINED).status == 0
    assert on_disk == ["edited"]
    for pattern in ("models/*/model.json", "runs/*/summary.json"):
        assert sources(one(pattern)) == ["as imported"]
    assert attempts() == [["as imported"]]
