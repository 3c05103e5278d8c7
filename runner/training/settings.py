"""How a model is trained: the settings of contrastive divergence, checked."""

from __future__ import annotations

from dataclasses import dataclass

from samplers.hyperparameters import count, one_of, positive, within

METHODS = ("cd", "pcd")
DECAYS = ("none", "linear")


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
        learning_rate: of Adam, in the first iteration.
        learning_rate_decay: ``none``, or ``linear`` to 0 after the last iteration, as Tieleman does.
        weight_decay: lambda of the penalty lambda |W|^2 / 2 on matrices; biases have none.
        averaging: share of the running average of the parameters that an iteration keeps, from 0 to 1; the
            model is the average in the end, or with 0 what the last iteration left.
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
    learning_rate_decay: str = "none"
    weight_decay: float = 0.0
    averaging: float = 0.0
    tune_every: int | None = None

    def __post_init__(self) -> None:
        one_of("method", self.method, METHODS)
        for key in ("cd_steps", "iterations", "batch", "chains"):
            count(key, getattr(self, key))
        positive("learning_rate", self.learning_rate)
        one_of("learning_rate_decay", self.learning_rate_decay, DECAYS)
        within("weight_decay", self.weight_decay, 0.0, 1.0)
        within("averaging", self.averaging, 0.0, 0.999999)
        if self.tune_every is not None:
            try:
                count("tune_every", self.tune_every)
            except ValueError as error:
                raise ValueError(
                    f"tune_every must be null or a whole number of at least 1, {self.tune_every!r} was given"
                ) from error
