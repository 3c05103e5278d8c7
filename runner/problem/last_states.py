"""Where the chains of a run ended: a sampler of a user's own may leave the space, or go wrong, late.

Its step is tried before a run, from states at which chains begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from omegaconf import DictConfig, OmegaConf

from runner.config.kinds import PROJECT
from samplers.kernel import State
from samplers.trial.step_trial import misplaced
from targets.target import Target


@torch.no_grad()
def misplaced_seeds(config: DictConfig, target: Target, state: State, seeds: Sequence[int]) -> dict[int, str]:
    """What is wrong with the last states of each seed, by seed, of a run with a sampler of a user's own.

    It takes an evaluation of the target, which no run counts; code of ours is proved exact by its tests.

    Args:
        state: batch ``(*axes, seeds, chains)``.
    """
    if not is_own(config, "sampler"):
        return {}
    axis = state.log_prob.dim() - 2
    own = target.log_prob(state.theta)
    found = dict[int, str]()
    for place, seed in enumerate(seeds):
        of_seed = (x.narrow(axis, place, 1) for x in (state.theta, state.log_prob, own))
        if what := misplaced(target, *of_seed):
            found[seed] = f"{_step(config)} {what}"
    return found


def _step(config: DictConfig) -> str:
    """Whose step it was: the kernel's, or that of what tempers it; ours where another part is the user's."""
    sampler = config.sampler
    kernel = sampler.get("kernel") if OmegaConf.is_dict(sampler.get("kernel")) else sampler
    own = list(_own_paths(OmegaConf.to_container(sampler)))
    paths = [str(node.get("_target_")) for node in (kernel, sampler)]
    named = next((path for path in paths if path in own), None)
    return f"{named}.step" if named else f"{paths[-1]}.step with {own[0]}"


def is_own(config: DictConfig, key: str) -> bool:
    """Whether a class in the group `key` of the configuration is none of this project's."""
    return next(_own_paths(OmegaConf.to_container(config[key])), None) is not None


def _own_paths(node: Any) -> Iterator[str]:
    """The classes in `node` that are none of this project's."""
    if isinstance(node, Mapping):
        path = node.get("_target_")
        if isinstance(path, str) and not path.startswith(PROJECT):
            yield path
        for inside in node.values():
            yield from _own_paths(inside)
