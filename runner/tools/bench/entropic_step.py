"""How long a step of the entropic samplers takes on an RBM of 784 x 500, beside their plain counterparts."""

from __future__ import annotations

from collections.abc import Callable

from runner.tools.bench.rbm_step import CHAINS, STEP_SIZE, paper_rbm, seconds_in_turns, thread_count
from runner.tools.bench.tempering_round import stepping
from samplers.discrete.dmala import DMALA
from samplers.discrete.dula import DULA
from samplers.entropic.edmala import EDMALA
from samplers.entropic.edmala_glu import EDMALAGLU
from samplers.entropic.edula import EDULA
from samplers.entropic.edula_glu import EDULAGLU
from samplers.kernel import Kernel

ETA, AUXILIARY_STEP_SIZE = 2.0, 0.001

WANTED = {"edmala": 1.3, "edmala_glu": 1.15}
"""How many DMALA steps a step may cost."""


def seconds_a_step(rounds: int = 60) -> dict[str, float]:
    """Seconds of one step of 100 chains by sampler, on one thread, all measured in turns."""
    kernels: dict[str, Kernel] = {
        "dmala": DMALA(STEP_SIZE),
        "edmala": EDMALA(STEP_SIZE, ETA, AUXILIARY_STEP_SIZE),
        "edmala_glu": EDMALAGLU(STEP_SIZE, ETA),
        "dula": DULA(STEP_SIZE),
        "edula": EDULA(STEP_SIZE, ETA, AUXILIARY_STEP_SIZE),
        "edula_glu": EDULAGLU(STEP_SIZE, ETA),
    }
    target = paper_rbm()
    with thread_count(1):
        return seconds_in_turns(
            {name: stepping(kernel, target, CHAINS) for name, kernel in kernels.items()}, rounds
        )


def entropic_rows(add: Callable[[str, str, str, bool], None], rounds: int) -> None:
    """The rows of the bench, each against the plain sampler of the same kind."""
    found = seconds_a_step(rounds)
    for name in ("edmala", "edmala_glu", "edula", "edula_glu"):
        plain = "dmala" if name.startswith("edmala") else "dula"
        share = found[name] / found[plain]
        times = f"{share:.2f} times ({1e3 * found[name]:.2f} against {1e3 * found[plain]:.2f} ms)"
        limit = WANTED.get(name)
        wanted = "-" if limit is None else f"<= {limit:g}"
        good = limit is None or share <= limit
        add(f"{name} step, RBM 784 x 500, 100 chains, 1 thread, against {plain}", times, wanted, good)
