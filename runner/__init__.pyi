from .execution.version import __version__ as __version__
from .library.named_parts import named_sampler as named_sampler
from .library.named_parts import named_target as named_target
from .library.sampling import sample as sample
from .library.selected_runs import load_runs as load_runs
from .library.whole_runs import run as run

__all__ = ["__version__", "load_runs", "named_sampler", "named_target", "run", "sample"]
