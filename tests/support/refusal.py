"""What a constructor or a function says where it refuses its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def refusal(kind: type[Exception], call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """The message of the error that the call raises, which must be of one line."""
    with pytest.raises(kind, match=r"\A.+\Z") as error:
        call(*arguments, **options)
    return str(error.value)
