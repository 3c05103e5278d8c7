"""The kernels that have no transition matrix to list, and where their claims are proved instead."""

from __future__ import annotations

from samplers.continuous.gaussian_random_walk import GaussianWalk
from samplers.continuous.mala import MALA
from samplers.continuous.ula import ULA
from samplers.entropic.edmala import EDMALA
from samplers.entropic.edmala_glu import EDMALAGLU
from samplers.entropic.edula import EDULA
from samplers.entropic.edula_glu import EDULAGLU
from samplers.kernel import Kernel
from samplers.tempering.parallel_tempering import ParallelTempering
from samplers.tempering.replica_exchange_langevin import ReplicaExchangeLangevin
from samplers.tempering.simulated.simulated_tempering import SimulatedTempering

CONTINUOUS = "it carries a continuous variable; tests/samplers/test_entropic.py holds it to the joint law"
REAL = "it moves on the reals; tests/samplers/test_continuous.py holds it to its law"
EXCHANGE = "it moves on the reals; tests/samplers/test_replica_exchange_langevin.py holds it to its law"

PROVED_ELSEWHERE: dict[type[Kernel], str] = {
    EDMALA: CONTINUOUS,
    EDMALAGLU: CONTINUOUS,
    EDULA: CONTINUOUS,
    EDULAGLU: CONTINUOUS,
    MALA: REAL,
    ULA: REAL,
    GaussianWalk: REAL,
    ReplicaExchangeLangevin: EXCHANGE,
}
"""Whatever else carries a continuous variable, or moves on the reals, has proved nothing yet.

Tempering around one of these is the kernel that is named and a move that is enumerated around others.
"""


def proved_elsewhere(kernel: Kernel) -> str | None:
    """Why `kernel`, or the kernel that it tempers, is not enumerated, and where it is proved; else None."""
    base = kernel.base if isinstance(kernel, (ParallelTempering, SimulatedTempering)) else kernel
    return PROVED_ELSEWHERE.get(type(base))
