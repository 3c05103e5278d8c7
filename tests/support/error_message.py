"""The message of an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def error_message(kind: type[Exception], call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """The message of the error that the call raises, which must be of one line."""
    with pytest.raises(kind, match=r"\A.+\Z") as error:
        call(*arguments, **options)
    return str(error.value)
