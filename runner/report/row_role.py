"""What a row of a table is."""

from __future__ import annotations

from enum import Enum


class Role(Enum):
    """What a row is: a `sampler` competes; a `variant` and reference `draws` do not, and are below a line."""

    sampler = "sampler"
    variant = "variant"
    draws = "draws"
