"""The stepper of a run, compiled where that is asked for."""

from __future__ import annotations

import logging

from torch import Tensor

from runner.execution.errors import RunError, warn
from samplers.compiling.not_compiled import NotCompiledError
from samplers.kernel import Kernel, State
from samplers.stepper import Stepper
from targets.randomness import Streams
from targets.target import Target


def stepper_from(
    state: State, kernel: Kernel, target: Target, beta: Tensor, streams: Streams, compiled: bool | str
) -> Stepper:
    """Takes steps from states like `state`; the other arguments are those of `Stepper`.

    Args:
        compiled: whether steps are compiled; ``auto``: where that fails they are not, with a warning.

    Raises:
        RunError: if they must be compiled and cannot be.
    """
    stepper = Stepper(kernel, target, beta, streams)
    if compiled:
        # Else each process says that there is no CUDA where a compiler for it is installed.
        logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)
        try:
            stepper.compile(state)
        except NotCompiledError as error:
            if compiled is True:
                raise RunError(f"compile=true: {error}.") from error
            warn(f"compile=auto goes on without compiled steps: {error}.")
    return stepper
