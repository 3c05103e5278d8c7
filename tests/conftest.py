"""How many processes share the tests."""

from __future__ import annotations

import joblib
import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, for ``-n auto``: several tests wait for processes of their own.

    A container may use a few cores of the many that it sees, and each process costs memory and a minute.
    """
    cores: int = joblib.cpu_count()
    return cores + 1
