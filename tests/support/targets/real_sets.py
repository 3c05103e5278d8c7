"""Data sets as conf/ describes them, and the real image sets where DATA_ROOT has them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import conf
from targets.datasets.dataset import DataError, Dataset
from tests.support.targets.small_images import cut_network

CONF = Path(conf.__path__[0])
ROOT = os.environ.get("DATA_ROOT")
NOT_IN_TESTS = "tests do not download"


def described(group: str, name: str) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The function of a set and its arguments, as the runner reads them."""
    options = yaml.safe_load((CONF / group / f"{name}.yaml").read_text())
    assert options.pop("name") == name
    options.pop("sha256_of", None)  # read by the runner alone
    module, _, function = options.pop("_target_").rpartition(".")
    return getattr(importlib.import_module(module), function), options


def loaded(name: str, root: str | None, **changed: Any) -> Dataset:
    """The image set as it is described, with some arguments changed."""
    load, options = described("dataset", name)
    return load(root=root, **(options | changed))


def real(name: str, monkeypatch: pytest.MonkeyPatch, **changed: Any) -> Dataset:
    """The set below DATA_ROOT; skips where it is not there."""
    if ROOT is None or not Path(ROOT).is_dir():
        pytest.skip("DATA_ROOT names no folder of data sets")
    cut_network(monkeypatch, NOT_IN_TESTS)
    try:
        return loaded(name, ROOT, **changed)
    except DataError as error:
        if NOT_IN_TESTS in str(error):
            pytest.skip(f"{name} is not below DATA_ROOT")
        raise
