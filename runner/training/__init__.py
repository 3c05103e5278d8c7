"""Training of a target's parameters, see `runner.training.contrastive_divergence`."""

from runner.training.contrastive_divergence import Training, TrainingError
from runner.training.settings import TrainingSettings

__all__ = ["Training", "TrainingError", "TrainingSettings"]
