"""Training of a target's parameters, see `runner.training.contrastive_divergence`."""

from runner.training.contrastive_divergence import Training
from runner.training.settings import TrainingSettings
from runner.training.soundness import TrainingError
from runner.training.validation import ValidationSettings

__all__ = ["Training", "TrainingError", "TrainingSettings", "ValidationSettings"]
