"""How many processes share the tests."""

from __future__ import annotations

import joblib
import pytest

MOST = 5
"""Each imports and collects for a minute, and one was seen to hold 5.5 GB."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, for ``-n auto``: several tests wait for processes of their own.

    A container may use fewer cores than it sees; `joblib` counts those.
    """
    cores: int = joblib.cpu_count()
    return min(cores + 1, MOST)
