"""Runs on a GPU that are stopped after their steps were recorded end like runs that are not."""

from __future__ import annotations

import pytest
import torch

from runner.execution import signals
from runner.tasks.sample import Sampling
from samplers.stepper import PLAIN_STEPS
from tests.cuda.kernels import CUDA
from tests.support.commands import Call, rows, stop_after

if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

STEPS = PLAIN_STEPS + 15
"""Between two checkpoints."""

RUNS = {
    "dmala": "target=bernoulli4 sampler=dmala sampler.step_size=0.4 metric=[tv,jump]",
    "tempered": "target=mog target.components=2 sampler=pt_dmala sampler.step_size=2.0 metric=[kl,swap_rate]",
    "cyclical": "target=ising target.size=4 sampler=acs sampler.cycle_length=8 metric=[jump]",
    "path": "target=ising target.size=4 sampler=pas sampler.radius=3.0 metric=[jump]",
    "learned": "target=rbm target.dataset=digits target.n_hidden=8 sampler=dmala sampler.step_size=0.2 "
    "target.training.iterations=20 metric=[jump]",
}


@pytest.mark.parametrize("compiled", ["false", "true"])
@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_is_stopped_ends_like_one_that_is_not(
    name: str, compiled: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [*RUNS[name].split(), f"compile={compiled}", f"device={CUDA}", "seed=[0,1]"]
    command += ["task.chains=8", f"task.steps={4 * STEPS}", f"checkpoint.steps={STEPS}"]
    with monkeypatch.context() as patch:
        stop_after(patch, Sampling, 2)
        assert call(*command).status == 75
    signals.forget()
    assert call(*command).status == 0
    assert call(*command, "output_root=whole").status == 0
    whole = rows("whole")
    assert whole
    assert rows() == whole
