"""The classes of a data set's images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from omegaconf import DictConfig
from torch import Tensor

from runner.config.data.datasets import dataset_settings
from runner.config.data.known_files import added_identity, check_known, verifies
from runner.execution.errors import UserError, one_sentence
from targets.datasets.dataset import DataError, Dataset
from targets.datasets.digits import digit_labels
from targets.datasets.files.idx import read_labels
from targets.datasets.files.places import data_root, found


@dataclass(frozen=True)
class Labels:
    """The class of each image.

    Attributes:
        train, test: places in `names`, int64 ``(images,)``.
        names: the labels themselves, ascending.
    """

    train: Tensor
    test: Tensor
    names: tuple[int, ...]


def labels_of(data: Dataset, name: str, root: Any, verify: bool = True) -> Labels:
    """The labels of the data set `name`, which is `data`.

    Raises:
        UserError: if it has none, they are not there or damaged, are not as many as the images, or are not
            known and `verify` is true.
    """
    spec = {} if name.endswith(".npz") else dataset_settings(name)
    loader = str(spec.get("_target_"))
    try:
        if loader == "targets.datasets.digits.load_digit_images":
            train, test = digit_labels()
        elif loader == "targets.datasets.idx_images.load_idx_images":
            place = _place(name, spec, root)
            if verify:
                check_known(name, spec, root, [place])
            train, test = _beside_images(name, place, root)
            train = train[: len(train) - spec.get("validation", 0)]
        else:
            raise UserError(f"The data set {name} has no labels here; digits and mnist, for example, have.")
    except DataError as error:
        raise UserError(f"{one_sentence(error)}.") from error
    for part, labels, images in (("training", train, data.train), ("test", test, data.test)):
        if len(labels) != len(images):
            raise UserError(f"{name} has {len(images)} {part} images and {len(labels)} labels of them.")
    names, places = np.unique(np.concatenate([train, test]), return_inverse=True)
    classes = torch.from_numpy(places.astype(np.int64))
    return Labels(classes[: len(train)], classes[len(train) :], tuple(int(label) for label in names))


def unknown_labels(config: DictConfig, name: str) -> dict[str, Any]:
    """What labels that are not known add to an identity, if `data.verify=false`."""
    if verifies(config) or name.endswith(".npz") or "places" not in (spec := dataset_settings(name)):
        return {}
    root = config.data.root
    added = added_identity(name, spec, root, [_place(name, spec, root)])
    return {"labels": added["files"]} if added else {}


def _place(name: str, spec: Mapping[str, Any], root: Any) -> dict[str, str]:
    """Labels of the training and of the test images, beside the images that are read."""
    folder = data_root(name, None if root is None else str(root))
    places = spec["places"]
    place = next((place for place in places if found(folder, [place]) is not None), places[0])
    return {part: path.replace("images-idx3", "labels-idx1") for part, path in place.items()}


def _beside_images(name: str, wanted: Mapping[str, str], root: Any) -> Any:
    """Labels of the training and of the test images, from the files `wanted`."""
    folder = data_root(name, None if root is None else str(root))
    files = found(folder, [wanted])
    if files is None:
        missing = " and ".join(wanted.values())
        raise DataError(
            f"the labels of {name} are missing: put {missing} (idx files, plain or .gz) into '{folder}'"
        )
    return tuple(read_labels(files[part]) for part in ("train", "test"))
