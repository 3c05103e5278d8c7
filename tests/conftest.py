"""How many processes share the tests."""

from __future__ import annotations

import os

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, for ``-n auto``: several tests wait for processes of their own."""
    return len(os.sched_getaffinity(0)) + 1
