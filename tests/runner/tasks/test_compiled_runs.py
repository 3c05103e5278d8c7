"""`compile`: the identity of such runs, what is refused, and that they resume to the same end."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import runner
from runner.config.compose import compose
from runner.execution import signals
from runner.execution.compiling import choice, seed_batch
from runner.execution.errors import UserError
from runner.problem import problems
from runner.problem.problems import Problems
from runner.tasks import sample
from runner.tasks.run_identity import run_identity
from runner.tasks.sample import Sampling
from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.not_compiled import NotCompiledError
from samplers.stepper import Stepper
from targets import Bernoulli4
from tests.support.commands import Call, refusal, rows, stop_after

DMALA = "target=bernoulli4 sampler=dmala sampler.step_size=0.4 task.chains=8 task.steps=40 metric=[tv,jump]"


def test_only_a_run_that_is_compiled_has_it_in_its_identity() -> None:
    plain, chosen = (
        run_identity(compose([*DMALA.split(), *more]), "cpu") for more in ((), ("compile=true",))
    )
    assert "compile" not in plain
    assert chosen == {**plain, "compile": "counter 2"}
    for steps, there in ((choice.AUTO_STEPS, True), (choice.AUTO_STEPS - 1, False)):
        found = run_identity(compose([*DMALA.split(), "compile=auto", f"task.steps={steps}"]), "cpu")
        assert ("compile" in found) is there
    on_cuda = run_identity(compose([*DMALA.split(), "compile=auto", "task.steps=1e6"]), "cuda")
    assert "compile" not in on_cuda


def test_what_cannot_be_compiled_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(DMALA, "compile=maybe") == "compile must be true, false or auto, 'maybe' was given."
    gap = "target=bernoulli4 sampler=gibbs task=spectral_gap compile=true"
    assert refusal(gap) == "compile=true is for task=sample and task=learn, task=spectral_gap was given."
    monkeypatch.setattr(
        Bernoulli4,
        "log_prob_and_grad",
        lambda self, theta: (self.log_prob(theta) + 0.0 * theta.max().item(), theta),
    )
    said = re.sub(r"line \d+", "line N", refusal(DMALA, "compile=true"))
    assert said == (
        "compile=true: a step of DMALA on Bernoulli4 cannot be compiled: it asks for "
        "aten._local_scalar_dense (test_compiled_runs.py, line N); compile=auto goes on without "
        "compiled steps."
    )
    monkeypatch.setenv("CXX", "no-such-compiler")
    said = refusal(DMALA, "compile=true")
    assert said.startswith("compile=true needs a C++ compiler, and 'no-such-compiler' is not there; ")
    assert not choice.compiles("auto", "cpu", choice.AUTO_STEPS)


def test_on_a_cuda_device_it_needs_triton_and_a_c_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setenv("CC", sys.executable)
    choice.require_compiler(True, "cuda")
    monkeypatch.setenv("CC", "no-such-compiler")
    for given in (False, "auto"):
        choice.require_compiler(given, "cuda")
    lacks = "compile=true on a CUDA device needs {}; use compile=false or auto."
    with pytest.raises(UserError) as refused:
        choice.require_compiler(True, "cuda")
    assert str(refused.value) == lacks.format("a C compiler, and 'no-such-compiler' is not there")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError) as refused:
        choice.require_compiler(True, "cuda")
    assert str(refused.value) == lacks.format("Triton, which is not installed")
    assert choice.compiles("auto", "cuda", choice.AUTO_STEPS) is False


def test_results_of_compiled_runs_can_be_read_where_no_compiler_is(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [*DMALA.split(), "compile=true"]
    monkeypatch.setattr(Stepper, "compile", lambda self, state: None)
    assert call(*command).status == 0
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert call(*command).status == 0  # done before
    assert "compile=true needs a C++ compiler" in call(*command, "seed=1").err


@pytest.mark.slow
@pytest.mark.parametrize("share", [False, True])
def test_a_compiled_run_that_is_stopped_ends_like_one_that_is_not(
    call: Call, monkeypatch: pytest.MonkeyPatch, share: bool
) -> None:
    """And each of two seeds has the numbers that it has alone, also where they share a batch."""
    if share:
        monkeypatch.setattr(seed_batch, "LEAST_STEPS", 1)
    command = [*DMALA.split(), "compile=true", "checkpoint.steps=7", "seed=[0,1]"]
    with monkeypatch.context() as patch:
        stop_after(patch, Sampling, 2)
        assert call(*command).status == 75
    signals.forget()
    assert call(*command).status == 0
    summaries = [json.loads(path.read_text()) for path in Path("outputs").glob("runs/*/summary.json")]
    batches = {summary["batch"] for summary in summaries}
    assert batches == {2 if share else 1}
    assert call(*DMALA.split(), "compile=true", "seed=1", "output_root=alone").status == 0
    alone = rows("alone")
    assert alone
    assert set(alone) < set(rows())


def test_where_it_fails_auto_goes_on_without_and_true_says_so(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Stepper, state: object) -> None:
        raise NotCompiledError("the compiler failed: no space left on device")

    monkeypatch.setattr(Stepper, "compile", fails)
    monkeypatch.setattr(choice, "AUTO_STEPS", 40)
    ended = call(*DMALA.split(), "compile=auto", "output_root=auto")
    assert ended.status == 0
    assert "compile=auto goes on without compiled steps: the compiler failed: no space left" in ended.err
    monkeypatch.setattr(sample, "Streams", CounterStreams)
    assert call(*DMALA.split(), "output_root=plain").status == 0
    assert rows("auto") == rows("plain")
    for root, compiled in (("auto", True), ("plain", False)):
        assert list(runner.load_runs(output_root=root)["compile"]) == [compiled]
    ended = call(*DMALA.split(), "compile=true")
    assert ended.status == 1
    assert "compile=true: the compiler failed: no space left on device." in ended.err
    assert not list(Path("outputs").glob("runs/*/summary.json"))


@pytest.mark.slow
def test_a_folder_of_compiled_graphs_that_cannot_be_used_loses_nothing(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not writable: one sentence. Damaged: compiled anew, with the same numbers."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "file" / "graphs"))
    ended = call(*DMALA.split(), "compile=true", "task.chains=9")
    assert ended.status in (1, 2)  # torch makes the folder when it is imported, or when it compiles
    assert "compile=true: " in ended.err
    assert "Not a directory" in ended.err
    assert "Traceback" not in ended.err
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "graphs"))
    assert call(*DMALA.split(), "compile=true", "task.chains=9").status == 0
    damaged = [path for path in (tmp_path / "graphs").rglob("*") if path.is_file()]
    assert damaged
    for path in damaged:
        path.unlink()  # what is loaded stays as it is
        path.write_bytes(b"damaged")
    assert call(*DMALA.split(), "compile=true", "task.chains=9", "output_root=again").status == 0
    assert rows("again") == rows()


def test_jobs_that_differ_in_the_seed_of_the_weights_are_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracing takes seconds, and a sweep may have a model for each seed."""
    traced = []
    monkeypatch.setattr(problems, "check_traceable", lambda problem: traced.append(problem))
    monkeypatch.setattr(problems.check_traceable, "__name__", "check_traceable")
    tried = Problems()
    for seed in range(3):
        for step_size in (0.1, 0.2):
            given = ("target=rbm", "target.dataset=digits", f"target.model_seed={seed}", "sampler=dmala")
            tried.check(compose([*given, f"sampler.step_size={step_size}", "metric=[jump]", "compile=true"]))
    assert len(traced) == 2
