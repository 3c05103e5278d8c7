"""How W&B is reached: its mode, project, entity, tags and server, by keys and by the environment."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

import wandb

from runner.execution.errors import one_sentence, warn
from targets.checks import one_of

MODES = ("online", "offline", "disabled")
FORMER_MODES = {"run": "online", "dryrun": "offline", "online": "online", "offline": "offline"}
"""What WANDB_MODE may also be; W&B's own names of earlier versions."""

LONGEST_TAG = 64
"""Letters that W&B takes."""

REACH_SECONDS = 5.0
ANSWER_SECONDS = 10
"""How long a server may take to answer at all, and to say whom a key belongs to."""


def asked_mode(given: str | None) -> str:
    """The mode that the key gives, or else WANDB_MODE, or else ``online``.

    Raises:
        ValueError: if it is no mode.
    """
    name, mode = "mode", given
    if mode is None and (mode := os.environ.get("WANDB_MODE") or None) is not None:
        name, mode = "WANDB_MODE", FORMER_MODES.get(mode, mode)
    return one_of(name, mode or "online", MODES)


def asked_tags(given: Sequence[str] | str | None) -> tuple[str, ...]:
    """The tags that the key gives, or else those of WANDB_TAGS, which commas separate; one text is one tag.

    Raises:
        ValueError: if one has a length that W&B refuses.
    """
    name = "tags" if given or given == "" else "WANDB_TAGS"
    if name == "WANDB_TAGS":
        given = list(filter(None, (tag.strip() for tag in os.environ.get(name, "").split(","))))
    tags = tuple(map(str, given if isinstance(given, Sequence) and not isinstance(given, str) else [given]))
    for tag in tags:
        if not 1 <= len(tag) <= LONGEST_TAG:
            raise ValueError(f"{name} must have 1 to {LONGEST_TAG} letters each, {tag!r} was given")
    return tags


def usable_mode(mode: str, base_url: str | None = None) -> str:
    """`mode`, or ``"offline"`` with one sentence of warning where online is asked for and cannot be had."""
    if mode != "online":
        return mode
    # For all of this process: what asks W&B later, without a run, takes the same server, and is as quiet.
    own: dict[str, Any] = {"silent": True} | ({"base_url": base_url} if base_url else {})
    wandb.setup(wandb.Settings(**own))
    if (reason := trouble()) is None:
        return mode
    warn(f"{reason}; the logger goes on offline.")
    return "offline"


def trouble() -> str | None:
    """Why the server takes no runs: no answer, no key, a key that it refuses; None where it takes them."""
    url = wandb.setup().settings.base_url
    if not reachable(url):
        return f"W&B cannot be reached at {url}"
    if not wandb.login(prompt=False, verify=False):
        return "W&B has no key here (`wandb login` sets one)"
    try:
        wandb.Api(timeout=ANSWER_SECONDS)
    except wandb.errors.AuthenticationError as error:
        said = one_sentence(error).rsplit(f"{url}: ", 1)[-1]
        if "respond in time" in said:
            return f"W&B at {url} did not say within {ANSWER_SECONDS} s whether it takes the key"
        return f"W&B at {url} refuses the key ({said}; `wandb login` sets another)"
    return None


def reachable(url: str) -> bool:
    """Whether a web server answers at `url` with any status, directly or through the proxy that is set."""
    try:
        urllib.request.urlopen(url, timeout=REACH_SECONDS).close()
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False
    return True
