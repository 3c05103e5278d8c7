"""Transition kernels, tempering around them, and the tuning of both.

The contract is in `kernel` and `metropolis_hastings`. Imports `targets` only; knows nothing of metrics, files
or configuration. The public names are listed in ``__init__.pyi`` and imported when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
