"""Run chains of any kernel on any target, in one call."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import torch
from torch import Tensor

from metrics.library.asked_draws import burn_in_asked, require_arrays, require_draws
from metrics.library.chain_draws import ChainDraws, Chains
from metrics.library.torch_modes import ordinary_modes
from samplers.kernel import Kernel, State, require_kernel
from samplers.stepper import Stepper
from samplers.tensor_tree import mapped
from samplers.trial.step_trial import try_step
from targets import Streams, Target
from targets.function_target import FunctionTarget
from targets.trial.claims import try_claims
from targets.trial.coarse_density import coarse_density
from targets.trial.pairwise_terms import try_pairwise_terms
from targets.trial.probabilities_trial import try_probabilities
from targets.trial.target_trial import require_target, try_modes, try_target
from targets.trial.zero_density import zero_density_hint


@ordinary_modes()
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
        burn_in: number of steps before the first draw; by default a fifth of the steps, rounded, as
            in the runner.
        thin: steps between draws.
        seed: of the starts and of the chains.

    Raises:
        TypeError: if `target` is no `Target` or `kernel` no `Kernel`.
        ValueError: if a number is out of range, the target gives wrong shapes or types or no finite number,
            the kernel does not support it, its step gives wrong shapes or types or draws from torch's global
            generator, its states are not draws from the target, as in simulated annealing, or mostly not,
            as where chains move between temperatures; after the steps, if a chain met NaN or stands at
            infinity.
    """
    require_target(target)
    require_kernel(kernel)
    burn_in = burn_in_asked(chains, steps, burn_in, thin, seed)
    require_draws(kernel, levels=kernel.has_levels)
    require_arrays(target)
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
    # In its own dtype a half's sum would stand still at 2048 steps.
    spent, accepted = 0, like.new_zeros(chains, dtype=torch.float64)
    burnt, on_rungs = accepted, torch.zeros_like(accepted)
    for number in range(1, steps + 1):
        state, info = step(state)
        if info.level is not None:
            require_draws(kernel, levels=True)  # one that does not say so beforehand
        spent += info.evaluations
        accepted += info.acceptance[0]
        if info.rungs is not None:
            on_rungs += info.rungs[:, 0].sum(0)
        since = number - burn_in
        if since <= 0 or since % thin:
            if since == 0:
                burnt, accepted = accepted, torch.zeros_like(accepted)
            continue
        theta = kernel.draws(state)
        draws.append(theta[0].clone())
        log_prob.append(_log_prob(target, kernel, state, theta)[0].clone())
        acceptance.append((accepted / thin).to(like.dtype))
        evaluations.append(spent)
        infos.append(mapped(info, Tensor.clone))  # its tensors may lie in one memory with the state
        accepted = torch.zeros_like(accepted)
    densities = torch.stack(log_prob, 1)
    last = state.log_prob.movedim(-1, 0).flatten(1)
    numbers = torch.cat((densities, last), 1).isfinite().all(1)
    # The acceptance of a proposal whose density is NaN is NaN, though the chain stays where it is.
    numbers &= ~torch.stack((burnt, *acceptance, accepted, on_rungs)).isnan().any(0)
    if not bool(numbers.all()):
        raise ValueError(
            f"the log density of {_name(target)}, or its gradient, was NaN or infinite in "
            f"{int((~numbers).sum())} of {chains} chains within {steps} steps"
            f"{zero_density_hint(target, last)}"
        )
    if coarse := coarse_density(densities):
        warnings.warn(f"{_name(target)}: {coarse}.", stacklevel=4)
    return ChainDraws(
        draws=torch.stack(draws, 1).cpu().numpy(),
        log_prob=densities.cpu().numpy(),
        acceptance=torch.stack(acceptance, 1).cpu().numpy(),
        evaluations=np.asarray(evaluations, dtype=np.int64),
        infos=tuple(infos),
        source=Chains(target, kernel, burn_in, thin, seed, torch.get_num_threads()),
    )


def _log_prob(target: Target, kernel: Kernel, state: State, draws: Tensor) -> Tensor:
    """U of the `draws` of `state`, ``(1, chains)``, evaluated unless they are the first replica's states.

    Only `Kernel.draws` knows what a draw is: a ladder of one's own may begin at its hot end.
    """
    first = (0,) * len(kernel.axes)
    theta = state.theta[first]
    if draws.data_ptr() == theta.data_ptr() and draws.shape == theta.shape:
        return state.log_prob[first]
    return target.log_prob(draws)


def try_given(target: Target, start: Tensor, *, gradient: bool) -> None:
    """Refuses a target whose log density, modes, probabilities or other claims contradict each other.

    Args:
        start: states ``(*batch, *event_shape)``, as `Target.initial` gave them.
        gradient: whether its gradient will be needed.

    Raises:
        ValueError: naming what it gave and what was expected, in one sentence.
    """
    name = _name(target)
    try_target(name, target, start, gradient=gradient)
    try_modes(name, target, start)
    try_probabilities(name, target)
    try_pairwise_terms(name, target)
    try_claims(name, target)


def _name(target: Target) -> str:
    of = target.function if isinstance(target, FunctionTarget) else type(target)
    return getattr(of, "__name__", "given")
