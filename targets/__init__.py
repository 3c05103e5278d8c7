"""What is sampled from: state spaces, log densities, random numbers and data sets.

The interface is in `targets.target`, `targets.spaces` and `targets.randomness`. Optional capabilities are
protocols: most in `targets.target`, others in `targets.graphs.objective`, `targets.tours.tour_space` and
`targets.tabular.distinct_rows`. Imports no other floor.
The public names are listed in ``__init__.pyi`` and imported when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
