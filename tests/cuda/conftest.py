"""The command line inside this process, as the runner's tests have it."""

from tests.runner.conftest import _own_hydra, _signals_as_before, call

__all__ = ["_own_hydra", "_signals_as_before", "call"]
