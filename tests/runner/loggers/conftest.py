"""What the tests of W&B share: a client of its own, and a server on the loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("wandb", reason="the extra wandb is not installed")

from tests.support.wandb_server.server import KEY, WandbServer, serving


@pytest.fixture(autouse=True)
def own_wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """W&B keeps everything under the test's folder, says nothing, and has no key."""
    for name in ("CONFIG", "CACHE", "DATA"):
        monkeypatch.setenv(f"WANDB_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("API_KEY", "MODE", "PROJECT", "ENTITY", "TAGS", "BASE_URL"):
        monkeypatch.delenv(f"WANDB_{name}", raising=False)


WITHOUT_WAITING = {
    "_FILE_STREAM_TRANSMIT_INTERVAL": "0.1",
    "_FILE_STREAM_RETRY_WAIT_MIN_SECONDS": "0.05",
    "_GRAPHQL_RETRY_WAIT_MIN_SECONDS": "0.05",
    "_FILE_TRANSFER_RETRY_WAIT_MIN_SECONDS": "0.05",
}
"""Settings of the client that it reads once, when it starts."""


@pytest.fixture(scope="module")
def _server() -> Iterator[WandbServer]:
    import wandb

    wandb.teardown()
    with serving() as server, pytest.MonkeyPatch.context() as patch:
        for name, value in WITHOUT_WAITING.items():
            patch.setenv(f"WANDB_{name}", value)
        yield server
        wandb.teardown()


@pytest.fixture
def server(_server: WandbServer, own_wandb: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[WandbServer]:
    """A server on the loopback, emptied, which the environment names; lines are sent to it at once."""
    import wandb
    from wandb.sdk.lib import wbauth

    _server.clear()
    monkeypatch.setenv("WANDB_BASE_URL", _server.url)
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    wandb.setup(wandb.Settings(base_url=_server.url))
    yield _server
    wbauth.unauthenticate_session(update_settings=True)
