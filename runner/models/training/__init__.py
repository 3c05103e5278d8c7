"""Training of a target's parameters, see `runner.models.training.contrastive_divergence`."""

from runner.models.training.contrastive_divergence import Training
from runner.models.training.divergence_check import TrainingError
from runner.models.training.training_settings import TrainingSettings
from runner.models.training.validation import ValidationSettings

__all__ = ["Training", "TrainingError", "TrainingSettings", "ValidationSettings"]
