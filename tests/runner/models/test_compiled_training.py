"""Trainings with compiled steps: their identity, their chains, what is refused, and that they resume.

The steps are traced and not compiled, but in the last test.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from metrics.enumeration.transition_matrix import transition_matrix
from runner.config.compose import compose
from runner.execution.errors import RunError
from runner.models.recipe import recipe_of
from runner.tasks.run_identity import run_identity
from samplers.compiling.counter_streams import CounterStreams
from samplers.compiling.not_compiled import NotCompiledError
from samplers.compiling.traced_step import TracedStep
from samplers.stepper import Stepper
from tests.support.commands import Call, refusal
from tests.support.training import KERNELS, assert_same, parameters, settings, state_of, training

LEARN = "task=learn target=rbm target.dataset=digits target.n_hidden=4 sampler=rbm_gibbs task.iterations=20 "
LEARN += "task.cd_steps=2 task.chains=10 task.ais.temperatures=5 task.ais.chains=4"


@pytest.fixture
def traced_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TracedStep, "compiled", lambda self, state, overwrites: self)


def test_only_a_training_that_is_compiled_has_it_in_its_identity() -> None:
    configs = [compose([*LEARN.split(), *more]) for more in ((), ("compile=true",))]
    plain, chosen = (run_identity(config, "cpu") for config in configs)
    assert chosen == {**plain, "compile": "counter 2"}
    one, other = (recipe_of(config, 0).content for config in configs)
    assert other == {**one, "compile": "counter 2"}
    for iterations, there in ((10_000, True), (9_999, False)):
        config = compose([*LEARN.split(), "compile=auto", f"task.iterations={iterations}"])
        assert ("compile" in run_identity(config, "cpu")) is there
        assert recipe_of(config, 0).settings.compiled == ("auto" if there else False)


def test_a_model_that_a_run_samples_from_is_trained_plainly() -> None:
    config = compose(["target=rbm", "target.dataset=digits", "sampler=rbm_gibbs", "compile=true"])
    assert recipe_of(config).settings.compiled is False


@pytest.mark.usefixtures("traced_alone")
@pytest.mark.parametrize("name", ["rbm_gibbs", "acs", "pt_dmala"])
@pytest.mark.parametrize("method", ["pcd", pytest.param("cd", marks=pytest.mark.slow)])
def test_a_compiled_training_that_is_interrupted_ends_as_one_that_is_not(name: str, method: str) -> None:
    """And it sees the parameters as they change: its chains have the log densities of the model as it is."""
    how = settings(method=method, compiled=True)
    whole = training(KERNELS[name](), how)
    whole.advance(12)
    assert isinstance(whole.chains.streams, CounterStreams)
    first, second = (training(KERNELS[name](), how) for _ in range(2))
    first.advance(5)
    second.load_state_dict(first.state_dict())
    second.advance(7)
    assert torch.equal(parameters(second.target), parameters(whole.target))
    assert_same(second.chains.state_dict(), whole.chains.state_dict())
    plain = training(KERNELS[name](), settings(method=method))
    plain.advance(12)
    assert not torch.equal(parameters(plain.target), parameters(whole.target))


@pytest.mark.usefixtures("traced_alone")
def test_its_chains_leave_a_state_with_the_enumerated_probabilities() -> None:
    """Of a model whose parameters changed since the step was traced; chi-squared, false alarm 1e-6."""
    from scipy.stats import chisquare

    how = settings(cd_steps=1, chains=4000, learning_rate=0.5, compiled=True)
    run = training(KERNELS["rbm_gibbs"](), how)
    run.advance(3)
    with torch.no_grad():
        start = run.target.space.states(run.chains.like.dtype)[37].expand(4000, -1)
        found, _ = run.chains.restart(start, 1)
    matrix = transition_matrix(KERNELS["rbm_gibbs"](), run.target, 1.0)
    counts = run.target.space.index(found[0]).bincount(minlength=len(matrix)).double()
    expected = 4000 * matrix[37].double()
    often = expected >= 5
    pooled = [torch.cat([each[often], each[~often].sum().reshape(1)]) for each in (counts, expected)]
    assert chisquare(pooled[0].numpy(), (pooled[1] * 4000 / pooled[1].sum()).numpy()).pvalue > 1e-6


def test_where_compiling_fails_auto_goes_on_without_and_true_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(self: Stepper, state: object) -> None:
        raise NotCompiledError("the compiler failed: no space left on device")

    monkeypatch.setattr(Stepper, "compile", fails)
    run = training(KERNELS["dmala"](), settings(compiled="auto"))
    run.advance(2)
    assert state_of(run).theta.shape[-2] == 7
    assert "compile=auto goes on without compiled steps: the compiler failed" in capsys.readouterr().err
    with pytest.raises(RunError, match=r"^compile=true: the compiler failed: no space left on device\.$"):
        training(KERNELS["dmala"](), settings(compiled=True)).advance(1)


def test_a_step_that_cannot_be_traced_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def untraceable(self: object, logits: torch.Tensor) -> torch.Tensor:
        return logits.sigmoid_().mul_(float(logits.sum() > 0))

    monkeypatch.setattr("targets.models.rbm.RBM.activation", untraceable)
    said = re.sub(r"line \d+", "line N", refusal(LEARN, "compile=true"))
    assert said == (
        "compile=true: a step of RBMGibbs on RBM cannot be compiled: it asks for "
        "aten._local_scalar_dense (test_compiled_training.py, line N); compile=auto goes on without "
        "compiled steps."
    )


@pytest.mark.slow
def test_a_compiled_model_is_learned_once(call: Call) -> None:
    """A second command with other annealings reads it; a plain one has a model of its own."""
    for more, models in ((["compile=true"], 1), (["compile=true", "task.ais.chains=5"], 1), ([], 2)):
        assert call(*LEARN.split(), *more).status == 0
        assert len(list(Path("outputs/models").glob("*/model.safetensors"))) == models
