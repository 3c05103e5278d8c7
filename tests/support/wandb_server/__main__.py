"""``python -m tests.support.wandb_server``: prints its address and serves until its input ends."""

from __future__ import annotations

import sys

from tests.support.wandb_server.server import serving

if __name__ == "__main__":
    with serving() as server:
        print(server.url, flush=True)
        sys.stdin.read()
