"""Run chains of any kernel on any target, in one call."""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor

from metrics.library.chain_draws import ChainDraws, Chains
from samplers.kernel import Kernel, require_kernel
from samplers.stepper import Stepper
from samplers.trial import try_step
from targets import Streams, Target
from targets.checks import whole_number
from targets.function_target import FunctionTarget
from targets.trial.claims import try_claims
from targets.trial.pairwise_terms import try_pairwise_terms
from targets.trial.target_trial import require_target, try_modes, try_probabilities, try_target


@torch.no_grad()
def run_chains(
    target: Target,
    kernel: Kernel,
    chains: int = 4,
    steps: int = 1000,
    burn_in: int | None = None,
    thin: int = 1,
    seed: int = 0,
) -> ChainDraws:
    """Draws of independent chains, with acceptance, log density and evaluations.

        from metrics import run_chains
        from samplers import DMALA
        from targets import MixtureOfGaussians

        result = run_chains(MixtureOfGaussians(8), DMALA(step_size=20.0), chains=4, steps=5000)
        print(result.diagnostics())

    With the same seed, dtype and device the draws are those of the runner's task ``sample``, bit for bit. All
    chains take one batched step at a time; with a ladder the draws are those of the cold replicas.

    Args:
        target: on the device and with the dtype of the computation.
        kernel: with given hyperparameters.
        chains: number of chains, which start at independent draws of the target's `initial`.
        steps: number of steps, including the burn-in.
        burn_in: number of steps before the first draw; by default a fifth of the steps, as in the runner.
        thin: steps between draws.
        seed: of the starts and of the chains.

    Raises:
        TypeError: if `target` is no `Target` or `kernel` no `Kernel`.
        ValueError: if a number is out of range, the target gives wrong shapes or types or no finite number,
            the kernel does not support it, its step gives wrong shapes or types or draws from torch's global
            generator, or its chains move between temperatures, so that most of their states are not draws
            from the target.
    """
    require_target(target)
    require_kernel(kernel)
    whole_number("chains", chains)
    whole_number("steps", steps)
    whole_number("thin", thin)
    whole_number("seed", seed, 0)
    burn_in = steps // 5 if burn_in is None else whole_number("burn_in", burn_in, 0)
    if burn_in + thin > steps:
        raise ValueError(
            f"burn_in and thin must leave at least one draw of {steps} steps, {burn_in} and {thin} were given"
        )
    kernel.check(target)
    like = target.like()
    one = like.new_ones(())
    kernel = kernel.to(like).prepared(target, one)
    # On the CPU, as the runner's: the devices' streams of one seed differ.
    there = target if like.device.type == "cpu" else copy.deepcopy(target).to("cpu")
    start = there.initial((*kernel.axes, 1, chains), Streams([seed], "start", "cpu")).to(like)
    try_given(target, start, gradient=kernel.needs_gradient)
    streams = Streams([seed], "chain", like.device)
    try_step(kernel, target, start, one)  # of all chains: hyperparameters may be one for each
    state, step = kernel.start(target, start, one, streams), Stepper(kernel, target, one, streams)
    draws, log_prob, acceptance, evaluations, infos = [], [], [], [], []
    spent, accepted = 0, like.new_zeros(chains)
    for number in range(1, steps + 1):
        state, info = step(state)
        if info.level is not None:
            raise ValueError(
                f"the chains of {type(kernel).__name__} move between temperatures, so their states are draws "
                "from the target at the cold level only; measure them with metrics.MetricSuite"
            )
        spent += info.evaluations
        accepted += info.acceptance[0]
        since = number - burn_in
        if since <= 0 or since % thin:
            if since == 0:
                accepted.zero_()
            continue
        theta = kernel.draws(state)[0]
        draws.append(theta.clone())
        # The cold replica is the first of a ladder.
        log_prob.append(state.log_prob[(0,) * len(kernel.axes)][0].clone())
        acceptance.append(accepted / thin)
        evaluations.append(spent)
        infos.append(info)
        accepted = torch.zeros_like(accepted)
    return ChainDraws(
        draws=torch.stack(draws, 1).cpu().numpy(),
        log_prob=torch.stack(log_prob, 1).cpu().numpy(),
        acceptance=torch.stack(acceptance, 1).cpu().numpy(),
        evaluations=np.asarray(evaluations, dtype=np.int64),
        infos=tuple(infos),
        source=Chains(target, kernel, burn_in, thin, seed),
    )


def try_given(target: Target, start: Tensor, *, gradient: bool) -> None:
    """Refuses a target whose log density, modes, probabilities or other claims contradict each other.

    Args:
        start: states ``(*batch, *event_shape)``, as `Target.initial` gave them.
        gradient: whether its gradient will be needed.

    Raises:
        ValueError: naming what it gave and what was expected, in one sentence.
    """
    of = target.function if isinstance(target, FunctionTarget) else type(target)
    name = getattr(of, "__name__", "given")
    try_target(name, target, start, gradient=gradient)
    try_modes(name, target, start)
    try_probabilities(name, target)
    try_pairwise_terms(name, target)
    try_claims(name, target)
