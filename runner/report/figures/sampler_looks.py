"""One colour and one marker for each sampler, the same in every figure of the project.

Colours are those of Okabe and Ito, and of Paul Tol's muted scheme: told apart with any colour vision.
Samplers of one colour differ in marker and line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

BLUE, SKY, VERMILLION, GREEN, PURPLE = "#0072B2", "#56B4E9", "#D55E00", "#009E73", "#CC79A7"
ORANGE, WINE, OLIVE, INDIGO, TEAL = "#E69F00", "#882255", "#999933", "#332288", "#44AA99"
COLOURS = (BLUE, SKY, VERMILLION, GREEN, PURPLE, ORANGE, WINE, OLIVE, INDIGO, TEAL)
IN_TURN = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, WINE, OLIVE, INDIGO, TEAL)
"""The colours of lines that are of no one sampler, such as the chains of a run; BLUE and SKY apart."""

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "p", "<", ">", "d", "h", "*")

IN_REPLICAS = "pt_"
"""How the name of a sampler in a ladder of replicas begins (`conf/tempering/parallel.yaml`)."""

LOOKS = {
    "dula": (SKY, "s"),
    "dmala": (BLUE, "o"),
    "st_dmala": (BLUE, "d"),
    "acs": (VERMILLION, "D"),
    "ab": (GREEN, "^"),
    "pt_dmala": (PURPLE, "v"),
    "released_dmala": (OLIVE, "*"),
    "pt_released_dmala": (WINE, "v"),
    "pt_dula": (PURPLE, "s"),
    "edula": (ORANGE, "P"),
    "edmala": (WINE, "X"),
    "pt_edmala": (PURPLE, "X"),
    "positionwise_dmala": (TEAL, "o"),
    "positionwise_edmala": (VERMILLION, "X"),
    "edula_glu": (OLIVE, "p"),
    "edmala_glu": (INDIGO, "<"),
    "gibbs": (TEAL, ">"),
    "pt_gibbs": (PURPLE, ">"),
    "rbm_gibbs": (TEAL, "h"),
    "pt_rbm_gibbs": (PURPLE, "h"),
    "block_gibbs": (GREEN, "d"),
    "hamming_ball": (VERMILLION, "*"),
    "gwg": (VERMILLION, "^"),
    "pt_gwg": (PURPLE, "^"),
    "locally_balanced": (OLIVE, "o"),
    "pt_locally_balanced": (PURPLE, "o"),
    "pas": (ORANGE, "D"),
    "pt_pas": (PURPLE, "D"),
    "dlmc": (SKY, "P"),
    "pt_dlmc": (PURPLE, "P"),
    "dlmc_forward": (SKY, "^"),
    "dmala_newton": (INDIGO, "o"),
    "swendsen_wang": (GREEN, "o"),
    "pt_swendsen_wang": (PURPLE, "*"),
    "wolff": (WINE, "D"),
    "tour_swap": (GREEN, "p"),
    "pt_tour_swap": (PURPLE, "p"),
    "random_walk": (OLIVE, "d"),
    "pt_random_walk": (PURPLE, "d"),
    "ula": (SKY, "o"),
    "ld": (BLUE, "s"),
    "mala": (BLUE, "D"),
    "st_mala": (BLUE, "p"),
    "stmh": (INDIGO, "D"),
    "reld": (VERMILLION, "o"),
    "mreld": (GREEN, "s"),
}
"""Colour and marker of each sampler by its name; in a ladder of replicas purple, but for the released one."""


def look_of(sampler: str, taken: Collection[tuple[str, str]] = ()) -> tuple[str, str]:
    """Colour and marker of `sampler`; of one that is not of this project, chosen by its name.

    Args:
        taken: looks that others of the figure have. Another sampler takes its own unless the colour is among
            them, and the next free colour then; where none is free, the next free pair.
    """
    if sampler in LOOKS:
        return LOOKS[sampler]
    place = int.from_bytes(hashlib.sha256(sampler.encode()).digest()[:8], "big")
    colours = [COLOURS[(place + shift) % len(COLOURS)] for shift in range(len(COLOURS))]
    first = place // len(COLOURS)
    markers = [MARKERS[(first + shift) % len(MARKERS)] for shift in range(len(MARKERS))]
    used = {colour for colour, _ in taken}
    free = [colour for colour in colours if colour not in used]
    pairs = [(colour, marker) for marker in markers for colour in free or colours]
    if sampler.startswith(IN_REPLICAS):
        pairs = [*((PURPLE, marker) for marker in markers), *pairs]
    return next((pair for pair in pairs if pair not in taken), pairs[0])
