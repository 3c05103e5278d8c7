"""Small stores whose files are damaged: finished runs, what runs share, and work that was cut short."""

from __future__ import annotations

import shutil
import signal
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from runner.__main__ import main
from runner.execution import signals
from runner.models.learned_target import _TrainingBlocks
from runner.problem.cached_reference_sample import _ChainBlocks
from runner.sweep.job_runner import compute
from runner.sweep.jobs import Job, jobs_of, requested
from runner.sweep.outcome import failures_in_words
from runner.sweep.preflight import preflight
from runner.tasks.images.fitting import Fit
from runner.tasks.likelihood.annealings import Annealings
from runner.tasks.sample import Sampling
from tests.support.commands import stop_after

STATES = (
    *("target=bernoulli4", "sampler=dmala", "metric=[tv,ess]", "task.steps=300", "task.chains=3"),
    *("task.record=3", "seed=[0,1]"),
)
RBM = (
    *("scale=smoke", "target=rbm", "target.dataset=digits", "target.n_hidden=4"),
    *("target.training.cd_steps=1", "target.training.iterations=30"),
    *("target.ground_truth.steps=60", "target.ground_truth.chains=20", "target.ground_truth.keeps=2"),
)
DRAWS = (*RBM, "sampler=rbm_gibbs", "metric=log_mmd", "task.steps=20", "task.chains=4")
LEARN = (
    *("scale=smoke", "task=learn", "target=rbm", "target.dataset=digits", "target.n_hidden=4"),
    *("sampler=dula", "sampler.step_size=0.5", "task.iterations=20", "task.cd_steps=1", "task.chains=20"),
    *("task.ais.temperatures=20", "task.ais.chains=10", "task.ais.draw_steps=5"),
)
IMAGES = (
    *RBM,
    "sampler=dmala",
    "sampler.step_size=0.5",
    "task.samples=130",
    "task.chains=20",
    "task.thinning=4",
)
AUTOENCODE = (
    *("task=autoencode", "task.autoencoder.networks=1", "task.autoencoder.epochs=3"),
    *IMAGES,
)
CLASSIFY = ("task=classify", "task.classifier.epochs=1", *IMAGES)


@dataclass(frozen=True)
class Store:
    """An output root, the command that reads it, and which of its files are damaged.

    Attributes:
        command: is repeated after the damage; it must end with the numbers of an undamaged store.
        kinds: a pattern of files below the output root, by what is in them.
        cut: the work that a signal stops, and in which of its blocks; None for a command that ends well.
        drop: patterns of files that are removed before the damage, so that the command reads the others.
        for_people: kinds that no command reads but `runner.verify`.
    """

    command: tuple[str, ...]
    kinds: Mapping[str, str]
    cut: tuple[type, int] | None = None
    drop: tuple[str, ...] = ()
    for_people: tuple[str, ...] = ()

    def job(self, root: Path) -> Job:
        """The one job of the command."""
        (job,) = jobs_of(requested([*self.command, f"output_root={root}"], multirun=False))
        return job

    def make(self, root: Path) -> None:
        """Fills `root`."""
        with stopped_in(*self.cut) if self.cut else nullcontext():
            status, said = _command(root, self.command)
        assert status == (75 if self.cut else 0), said
        for pattern in self.drop:
            for path in root.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()


STORES = {
    "finished run": Store(
        STATES,
        {
            "summary.json": "runs/*/summary.json",
            "metrics.csv": "runs/*/metrics.csv",
            "visits.npz": "runs/*/visits.npz",
            "series.npz": "runs/*/series.npz",
            "config.yaml": "runs/*/config.yaml",
            "manifest.json": "runs/*/manifest.json",
        },
    ),
    "finished learning": Store(
        LEARN, {"draws.npz of a run": "runs/*/draws.npz", "images.npz of a run": "runs/*/images.npz"}
    ),
    "tuned": Store(STATES, {"tuned result": "artefacts/*.json"}, drop=("runs/*",)),
    "model": Store(
        DRAWS,
        {
            "model.safetensors": "models/*/model.safetensors",
            "model.json": "models/*/model.json",
            "reference sample": "models/*/ground_truth-*.safetensors",
            "its report": "models/*/ground_truth-*.json",
        },
        drop=("runs/*",),
        for_people=("its report",),
    ),
    "learned": Store(LEARN, {"samples.safetensors": "models/*/samples.safetensors"}, drop=("runs/*",)),
    "images": Store(
        CLASSIFY,
        {
            "draws.npz of images": "images/*/draws.npz",
            "images.json": "images/*/images.json",
            "classifier": "classifiers/*.safetensors",
        },
        drop=("runs/*",),
    ),
    "autoencoders": Store(
        AUTOENCODE, {"autoencoder": "images/*/autoencoder-*.safetensors"}, drop=("runs/*",)
    ),
    "cut sampling": Store(
        STATES,
        {"checkpoint, runs": "runs/*/checkpoint.pt", "manifest of a cut run": "runs/*/manifest.json"},
        (Sampling, 2),
    ),
    "cut training": Store(DRAWS, {"checkpoint, training": "models/*/checkpoint.pt"}, (_TrainingBlocks, 2)),
    "cut reference": Store(
        DRAWS, {"checkpoint, reference sample": "models/*/ground_truth-*.pt"}, (_ChainBlocks, 2)
    ),
    "cut annealing": Store(LEARN, {"checkpoint, annealing": "runs/*/checkpoint.pt"}, (Annealings, 2)),
    "cut images": Store(AUTOENCODE, {"checkpoint, images": "images/*/checkpoint.pt"}, (Sampling, 1)),
    "cut fit": Store(AUTOENCODE, {"checkpoint, network": "images/*/autoencoder-*.pt"}, (Fit, 1)),
}


def repeated(job: Job) -> tuple[int, str]:
    """The exit status of ``python -m runner`` from its checks on, and what it says on stderr.

    The command is composed once for all its repetitions, which takes longer than to compute such small runs.
    """
    said = StringIO()
    with redirect_stderr(said), redirect_stdout(StringIO()):
        try:
            outcome = compute(job, [], preflight([job]))
        except Exception:
            return 1, said.getvalue() + traceback.format_exc()
    return int(bool(outcome.failures)), said.getvalue() + failures_in_words(outcome.failures)


def _command(root: Path, command: tuple[str, ...]) -> tuple[int, str]:
    """The exit status of ``python -m runner`` in this process, and what it says on stderr."""
    handlers = {number: signal.getsignal(number) for number in signals.SIGNALS}
    said = StringIO()
    try:
        with redirect_stderr(said), redirect_stdout(StringIO()):
            status = main((*command, f"output_root={root}"))
    finally:
        signals.forget()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return status, said.getvalue()


@contextmanager
def stopped_in(work: type, block: int) -> Iterator[None]:
    """Within it a SIGTERM comes while that block of the work is done."""
    with pytest.MonkeyPatch.context() as patch:
        stop_after(patch, work, block)
        yield
