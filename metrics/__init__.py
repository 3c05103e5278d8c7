"""What is measured on samples and models.

The interface is in `metrics.metric`, `metrics.suite` and `metrics.requirements`. Imports `samplers` and
`targets`; does not depend on files or configuration.
The public names are listed in ``__init__.pyi`` and imported when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
