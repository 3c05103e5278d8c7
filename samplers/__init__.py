"""Transition kernels, tempering around them, and the tuning of both.

The contract is in `kernel` and `metropolis_hastings`. Imports `targets` only; knows nothing of metrics, files
or configuration. The public names are listed in ``__init__.pyi`` and imported when they are first used.
"""

from pathlib import Path

import lazy_loader

import targets

_found, _ours = Path(targets.__file__ or "?").resolve(), Path(__file__).resolve().parents[1] / "targets"
if _found.parent != _ours:
    raise ImportError(
        f"rungwise needs its own package 'targets', but {_found} is imported under that name; rename that "
        "one, or write `import runner` above its import."
    )

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
