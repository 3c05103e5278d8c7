"""Image sets are read without a network; only the tests of downloads have one, on this machine."""

from __future__ import annotations

import pytest

from tests.support.targets.small_images import cut_network


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets every download fail at once."""
    cut_network(monkeypatch, "no network here")
