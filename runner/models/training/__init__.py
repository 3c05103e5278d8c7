"""Training of a target's parameters by contrastive divergence: `Training` and its settings.

Imports `runner.execution`, and metrics, kernels and targets.
"""

from runner.models.training.batches import TrainingImages
from runner.models.training.contrastive_divergence import Training
from runner.models.training.divergence_check import TrainingError
from runner.models.training.validation import ValidationSettings
from runner.models.training_settings import TrainingSettings

__all__ = ["Training", "TrainingError", "TrainingImages", "TrainingSettings", "ValidationSettings"]
