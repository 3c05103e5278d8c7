"""How a model is trained: the settings of contrastive divergence, checked."""

from __future__ import annotations

from dataclasses import dataclass

from samplers.hyperparameters import count, one_of, positive

METHODS = ("cd", "pcd")


@dataclass(frozen=True)
class TrainingSettings:
    """Contrastive divergence (Hinton 2002) or its persistent form (Tieleman 2008), with Adam.

    Attributes:
        method: ``cd``, where the chains start from the batch in every iteration, or ``pcd``, where they go
            on from the last one.
        cd_steps: steps of the sampler in every iteration.
        iterations: updates of the parameters, whatever that is in epochs.
        batch: images per update; what is left of an epoch is dropped.
        chains: persistent chains; with ``cd`` there is one for each image of the batch instead.
        learning_rate: of Adam.
        tune_every: what the sampler leaves to tuning is tuned before the first iteration and again every so
            many; None: before the first alone.

    Raises:
        ValueError: naming the key, the value given and what is allowed.
    """

    method: str = "cd"
    cd_steps: int = 10
    iterations: int = 1000
    batch: int = 100
    chains: int = 100
    learning_rate: float = 0.001
    tune_every: int | None = None

    def __post_init__(self) -> None:
        one_of("method", self.method, METHODS)
        for key in ("cd_steps", "iterations", "batch", "chains"):
            count(key, getattr(self, key))
        positive("learning_rate", self.learning_rate)
        if self.tune_every is not None:
            try:
                count("tune_every", self.tune_every)
            except ValueError as error:
                raise ValueError(
                    f"tune_every must be null or a whole number of at least 1, {self.tune_every!r} was given"
                ) from error
