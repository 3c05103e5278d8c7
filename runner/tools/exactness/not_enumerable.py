"""The kernels without a transition matrix that could be listed, and how their claims are proved instead."""

from __future__ import annotations

from samplers.continuous.gaussian_random_walk import GaussianWalk
from samplers.continuous.mala import MALA
from samplers.continuous.ula import ULA
from samplers.entropic.edmala import EDMALA
from samplers.entropic.edmala_glu import EDMALAGLU
from samplers.entropic.edula import EDULA
from samplers.entropic.edula_glu import EDULAGLU
from samplers.kernel import Kernel
from samplers.reference.held_out_draws import HeldOutDraws
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.replica_exchange_langevin import ReplicaExchangeLangevin
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering

AUXILIARY = (
    "it has a continuous auxiliary variable; instead its draws are compared with the joint distribution of "
    "state and auxiliary variable (EDLP), which is known exactly"
)
REAL = "it moves on the reals; instead its draws are compared with distributions that are known exactly"

FINITE = "its draws depend on those that came before, in all chains; it claims nothing"

NOT_ENUMERABLE: dict[type[Kernel], str] = {
    EDMALA: AUXILIARY,
    EDMALAGLU: AUXILIARY,
    EDULA: AUXILIARY,
    EDULAGLU: AUXILIARY,
    MALA: REAL,
    ULA: REAL,
    GaussianWalk: REAL,
    ReplicaExchangeLangevin: REAL,
    HeldOutDraws: FINITE,
}
"""Why each of them is not enumerated; of any other kernel on the reals no proof is known.

Tempering around one of these needs no entry: its swaps are enumerated around other kernels.
"""


def why_not_enumerable(kernel: Kernel) -> str | None:
    """Why `kernel`, or the kernel that it tempers, cannot be enumerated; None for any other kernel."""
    base = kernel.base if isinstance(kernel, (ParallelTempering, SimulatedTempering)) else kernel
    return NOT_ENUMERABLE.get(type(base))
