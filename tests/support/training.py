"""Small RBMs in training: their images, kernels and settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from runner.models.training import Training, TrainingImages, TrainingSettings
from runner.models.training.loss import contrastive_loss
from samplers.discrete.ab import AB
from samplers.discrete.acs import ACS
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.discrete.gibbs import Gibbs
from samplers.discrete.rbm_gibbs import RBMGibbs
from samplers.entropic.edmala import EDMALA
from samplers.kernel import Kernel, State
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.swaps.swap_round import Swaps
from samplers.tuning.configured import configured
from samplers.tuning.tunable import Tunable
from targets import RBM, Discrete, Target
from tests.support.tunable import tunable

LADDER = [1.0, 0.7, 0.4]


def halves(rows: int = 60, pixels: int = 8, seed: int = 0, noise: float = 0.1) -> Tensor:
    """Two opposite images with a share `noise` of the pixels flipped, uint8 ``(rows, pixels)``."""
    generator = torch.Generator().manual_seed(seed)
    image = torch.arange(rows).unsqueeze(-1) % 2
    half = torch.arange(pixels) < pixels // 2
    flips = torch.rand((rows, pixels), generator=generator) < noise
    return ((image.bool() ^ half) ^ flips).to(torch.uint8)


def half_images(rows: int, seed: int) -> Tensor:
    """Images of 3 x 4 pixels: a left or a right half, with a tenth of the pixels flipped."""
    generator = torch.Generator().manual_seed(seed)
    left = torch.arange(12) % 4 < 2
    side = torch.rand((rows, 1), generator=generator) < 0.5
    return (side ^ left ^ (torch.rand((rows, 12), generator=generator) < 0.1)).to(torch.uint8)


def small_rbm(scale: float = 3.0) -> RBM:
    """An RBM before training; at the default scale its weights are large enough to matter."""
    model = RBM(8, 4, halves().double().mean(0), seed=1)
    model.weight.data *= scale
    return model


def pt(step_size: Any = 0.3, ladder: Any = LADDER, **options: Any) -> Any:
    return configured(ParallelTempering, DMALA(1.0), ladder=ladder, step_size=step_size, **options)


KERNELS: dict[str, Callable[[], Kernel]] = {
    "dula": lambda: DULA(0.2),
    "dmala": lambda: DMALA(0.3),
    "edmala": lambda: EDMALA(0.3, 2.0, 0.5),
    "acs": lambda: ACS(cycle_length=3, step_size=1.0, min_step_size=0.2, balancing=0.6),
    "ab": lambda: AB(0.3, 0.6),
    "gibbs": lambda: Gibbs("systematic"),
    "rbm_gibbs": RBMGibbs,
    "pt_dmala": pt,
    "pt_rbm_gibbs": lambda: ParallelTempering(RBMGibbs(), ladder=LADDER),
    "pt_released": lambda: pt(swap=Swaps("released", "sequential")),
}

AUTOMATIC: dict[str, Callable[[], Tunable]] = {
    "dmala auto": lambda: tunable(DMALA),
    "acs auto": lambda: tunable(ACS, cycle_length=4),
    "ab auto": lambda: tunable(AB),
    "pt_dmala auto": lambda: pt("auto"),
}


def settings(**changed: Any) -> TrainingSettings:
    plain: dict[str, Any] = {"method": "pcd", "cd_steps": 2, "iterations": 12, "batch": 10, "chains": 7}
    return TrainingSettings(**{**plain, "learning_rate": 0.05, **changed})


def training(
    kernel: Kernel | Tunable,
    how: TrainingSettings | None = None,
    *,
    held_out: Tensor | None = None,
    model: RBM | None = None,
    **options: Any,
) -> Training:
    images = TrainingImages(halves(), held_out)
    return Training(model or small_rbm(), kernel, images, how or settings(), seed=5, **options)


def parameters(model: Target) -> Tensor:
    return torch.cat([p.detach().double().flatten() for p in model.parameters()])


def state_of(run: Training) -> State:
    """The state of the chains after an iteration."""
    assert run.chains.state is not None
    return run.chains.state


def assert_same(one: Any, other: Any) -> None:
    """Both have the same structure and the same bits, but for the keys ``seconds``."""
    if isinstance(one, Tensor):
        assert torch.equal(one, other)
    elif isinstance(one, dict):
        assert set(one) == set(other)
        for key in one:
            if not str(key).endswith("seconds"):
                assert_same(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    else:
        assert one == other


def gradient(model: Target, samples: Tensor, data: Tensor) -> dict[str, Tensor]:
    """The gradient of the contrastive loss, by autograd."""
    model.requires_grad_(True)
    names, tensors = zip(*model.named_parameters(), strict=True)
    loss = contrastive_loss(model.log_prob(samples), model.log_prob(data))
    return dict(zip(names, torch.autograd.grad(loss, tensors), strict=True))


def statistics(model: RBM, states: Tensor) -> dict[str, Tensor]:
    """The gradient of U at each state, ``(states, *parameter)``, in closed form."""
    hidden = model.hidden_logits(states).sigmoid().detach()
    weight = hidden.unsqueeze(-1) * states.unsqueeze(-2)
    return {"weight": weight, "hidden_bias": hidden, "visible_bias": states}


def log_likelihood(model: Target, data: Tensor) -> Tensor:
    """Mean exact log-likelihood, by listing all states."""
    assert isinstance(model.space, Discrete)
    log_z = model.log_prob(model.space.states().to(model.like())).logsumexp(0)
    return model.log_prob(data.to(model.like())).mean() - log_z
