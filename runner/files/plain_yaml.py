"""YAML of our own files, as plain values."""

from __future__ import annotations

from typing import Any

import yaml

# The loader in C is ten times as fast; few builds of PyYAML are without it.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def plain_yaml(content: str | bytes) -> Any:
    """The values in `content`.

    Raises:
        yaml.YAMLError: if it is no YAML.
    """
    return yaml.load(content, _Loader)
