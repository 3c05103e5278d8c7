"""What is measured on samples and models.

The interface is in `metrics.metric`, `metrics.suite` and `metrics.requirements`. Imports `samplers` and
`targets`; does not depend on files or configuration.
The public names are listed in ``__init__.pyi`` and imported when they are first used.
"""

from pathlib import Path

import lazy_loader

import samplers

_found, _ours = Path(samplers.__file__ or "?").resolve(), Path(__file__).resolve().parents[1] / "samplers"
if _found.parent != _ours:
    raise ImportError(
        f"rungwise needs its own package 'samplers', but {_found} is imported under that name; rename that "
        "one, or write `import runner` above its import."
    )

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
