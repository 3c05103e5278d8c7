"""What a row of a table is."""

from __future__ import annotations

from enum import Enum


class Role(Enum):
    """What a row is: a `sampler` competes; a `variant` and reference `draws` are set apart under a rule."""

    sampler = "sampler"
    variant = "variant"
    draws = "draws"
