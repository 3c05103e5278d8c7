"""What makes a trained model: its class and size, its data, its training, its seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from omegaconf import DictConfig

from runner.config.construct import check_arguments, class_at, construct, errors_at
from runner.config.construct_sampler import construct_sampler
from runner.config.data.datasets import dataset_identity, load_dataset, unknown_files
from runner.config.data.known_files import verifies
from runner.config.key_group import group, node
from runner.execution.compiling.choice import compiled_identity, compiles
from runner.execution.devices import device_type
from runner.execution.errors import UserError, one_sentence
from runner.models.architectures import architecture, architecture_name, remember_arguments
from runner.models.identity import NOT_LEARNED, tuning_effort, tuning_identity
from runner.models.training import TrainingSettings, ValidationSettings
from runner.models.training.draws_check import check_draws
from runner.models.training_settings import SETTINGS, essential, training_settings
from runner.store.short_hash import SCHEMA, short_hash
from samplers.kernel import Kernel
from samplers.tuning.tunable import Tunable, fixed
from targets.datasets.dataset import Dataset
from targets.target import Target


@dataclass(frozen=True)
class Recipe:
    """Everything that makes a trained model.

    Attributes:
        target: the class and its size, as configured.
        dataset, binarisation: what it is trained on.
        settings: how.
        sampler: node of the kernel in the negative phase.
        scoring: how it is validated on the way; None where it is not.
        seed: of its weights, of the order of the data and of the chains.
        device, dtype: where and in what precision.
        key: where the settings stand in the configuration, for messages.
        unknown: digests of the files of its data set that its name does not tell.
        tuning: what the pilots of an open sampler add to its identity.
    """

    target: dict[str, Any]
    dataset: str
    binarisation: str | None
    settings: TrainingSettings
    training: dict[str, Any]
    sampler: dict[str, Any]
    seed: int
    device: str
    dtype: str
    key: str = "target.training"
    scoring: ValidationSettings | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)
    tuning: Mapping[str, Any] = field(default_factory=dict)

    @property
    def content(self) -> dict[str, Any]:
        """All of it, as it enters the identity and the file's metadata."""
        unread = ("chains",) if self.settings.method == "cd" else ()
        return {
            "schema": SCHEMA,
            "target": {key: value for key, value in self.target.items() if key != "name"},
            "data": {**dataset_identity(self.dataset, self.binarisation), **self.unknown},
            "training": essential({k: value for k, value in self.training.items() if k not in unread}),
            "sampler": self.sampler,
            "seed": self.seed,
            "device": self.device,
            "dtype": self.dtype,
            **self.tuning,
            **compiled_identity(self.settings.compiled),
        }

    @property
    def model_id(self) -> str:
        """Identity of the model."""
        return short_hash(self.content)


def is_learned(config: DictConfig) -> bool:
    """Whether the target of `config` is one whose weights come from training."""
    return "training" in config.target


def recipe_of(config: DictConfig, seed: int | None = None) -> Recipe:
    """The recipe of a learned target: `target.training`, or for the task `learn` the task itself.

    Args:
        seed: of the model; by default `target.model_seed`.

    Raises:
        UserError: naming the key that is refused.
    """
    target, key = node(config, "target"), "target.training"
    training: Mapping[str, Any] = group(target.get("training") or {}, key)
    sampler: Any = training.get("sampler")
    if seed is not None:
        training, sampler, key = node(config, "task"), node(config, "sampler"), "task"
    else:
        seed = target.get("model_seed", 0)
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise UserError(f"target.model_seed must be a whole number of at least 0, {seed!r} was given.")
    settings = training_settings(training, key, tuning_effort(config))
    device = device_type(config.device)
    if key == "task":
        compiled = compiles(config.get("compile", False), device, settings.steps)
        settings = replace(settings, compiled=compiled)
    values = {name: training[name] for name in SETTINGS if name in training}
    scoring = None
    if settings.validate_every is not None:
        values["validation"] = training.get("validation", {})
        scoring = _scoring_of(values["validation"], f"{key}.validation")
    own = {
        name: value for name, value in target.items() if name not in (*NOT_LEARNED, "dataset", "binarisation")
    }
    return Recipe(
        target=own,
        dataset=str(target.get("dataset")),
        binarisation=target.get("binarisation"),
        settings=settings,
        training=values,
        sampler=group(sampler or {}, "sampler" if key == "task" else f"{key}.sampler"),
        seed=seed,
        device=device,
        dtype=str(config.dtype),
        key=key,
        scoring=scoring,
        unknown=unknown_files(config, target.get("dataset")),
        tuning=tuning_identity(config, sampler),
    )


def _scoring_of(given: Any, key: str) -> ValidationSettings:
    """The checked settings of the validations, which stand at `key`."""
    values = group(given, key)
    check_arguments(ValidationSettings, values, key, "The validation", 0)
    if "sampler" in values:
        values["sampler"] = _kernel(values["sampler"], f"{key}.sampler")
    with errors_at(key, values):
        return ValidationSettings(**values)


def data_of(recipe: Recipe, config: DictConfig) -> Dataset:
    """The data set of a recipe.

    Raises:
        UserError: if it is missing or damaged, holds less than a batch, or has no images to validate with.
    """
    data = load_dataset(recipe.dataset, recipe.binarisation, config.data.root, verifies(config))
    if recipe.settings.batch > len(data.train):
        raise UserError(
            f"{recipe.key}.batch must not exceed the {len(data.train)} training images of {data.name}, "
            f"{recipe.settings.batch} was given."
        )
    if recipe.scoring is not None and not len(data.validation):
        raise UserError(
            f"{recipe.key}.validate_every must be null for {data.name}, which has no validation images, "
            f"{recipe.settings.validate_every} was given."
        )
    return data


def untrained(recipe: Recipe, data: Dataset) -> Target:
    """The model that training starts from, in float64 on the CPU.

    Raises:
        UserError: if it cannot be built, does not fit the data, or is of a class that cannot be saved.
    """
    cls = class_at(recipe.target, "target", (Target,))
    own = architecture(architecture_name(cls), "target._target_")
    arguments = {
        **own.of_data(data),
        **recipe.target,
        "n_visible": data.train.shape[1],
        "mean": data.mean(),
        "seed": recipe.seed,
    }
    target: Target = construct(arguments, "target", (Target,))
    remember_arguments(target, arguments)
    own.arguments(target)  # refuses what could not be saved
    return target


def kernel_of(recipe: Recipe) -> Kernel | Tunable:
    """The kernel of the negative phase, or what tunes it where it leaves hyperparameters open.

    Raises:
        UserError: if it cannot be built, is no `Kernel`, or its states are not all draws from the model.
    """
    key = "target.training.sampler" if "name" not in recipe.sampler else "sampler"
    kernel = _kernel(recipe.sampler, key)
    try:
        check_draws(fixed(kernel))
    except ValueError as error:
        raise UserError(f"{key}: {one_sentence(error)}.") from error
    return kernel


def _kernel(given: Any, key: str) -> Kernel | Tunable:
    return construct_sampler(group(given, key), key)
