"""How long a step of the entropic samplers takes on an RBM of 784 x 500, beside their plain counterparts."""

from __future__ import annotations

from metrics.library.thread_count import thread_count
from runner.execution.compiling.choice import has_compiler
from runner.tools.bench.steps.rbm_step import CHAINS, STEP_SIZE, paper_rbm
from runner.tools.bench.timing import BenchRows, seconds_in_turns, stepping
from samplers import DMALA, DULA, EDMALA, EDMALAGLU, EDULA, EDULAGLU, Kernel

ETA, AUXILIARY_STEP_SIZE = 2.0, 0.001

WANTED = {"edmala": 1.3, "edmala_glu": 1.15, "edula": None, "edula_glu": None}
"""How many steps of the plain sampler of the same kind a step may cost."""

WANTED_COMPILED = {"edmala": 1.15, "edmala_glu": 1.15}
"""The same of compiled steps."""


def entropic_rows(bench: BenchRows, rounds: int) -> None:
    """Steps of 100 chains on one thread, all measured in turns."""
    kernels: dict[str, Kernel] = {
        "dmala": DMALA(STEP_SIZE),
        "edmala": EDMALA(STEP_SIZE, ETA, AUXILIARY_STEP_SIZE),
        "edmala_glu": EDMALAGLU(STEP_SIZE, ETA),
        "dula": DULA(STEP_SIZE),
        "edula": EDULA(STEP_SIZE, ETA, AUXILIARY_STEP_SIZE),
        "edula_glu": EDULAGLU(STEP_SIZE, ETA),
    }
    target = paper_rbm()
    for compiled in (False, True) if has_compiler() else (False,):
        wanted = WANTED_COMPILED if compiled else WANTED
        with thread_count(1):
            calls = {
                name: stepping(kernel, target, CHAINS, compiled=compiled)
                for name, kernel in kernels.items()
                if not compiled or name in ("dmala", *wanted)
            }
            seconds = seconds_in_turns(calls, rounds)
        for name, most in wanted.items():
            plain = "dmala" if name.startswith("edmala") else "dula"
            about = (
                f"{'compiled ' * compiled}{name} step, RBM 784 x 500, 100 chains, 1 thread, against {plain}"
            )
            bench.ratio(about, seconds[name], seconds[plain], most=most)
