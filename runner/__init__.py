"""The application. This folder holds the commands, each for ``python -m``; what they do is in its rooms.

``python -m`` looks into the current folder first. Our other packages are imported from beside this one here,
so that a ``conf.py`` or a folder ``metrics`` of the user's own is not taken for them.

``runner.sample`` runs chains, ``runner.run`` whole runs, ``runner.load_runs`` reads those on disk: see
``__init__.pyi``. They are imported when they are first used.
"""

from runner.execution.early_errors import NEEDS_OWN, say_so_in_commands

say_so_in_commands()

import importlib  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

import lazy_loader  # noqa: E402

BESIDE = ("conf", "targets", "samplers", "metrics")


def _import_ours() -> None:
    """Imports the packages beside this one.

    Raises:
        ImportError: if another one of that name has been imported before.
    """
    home = Path(__file__).resolve().parents[1]
    sys.path.insert(0, str(home))
    try:
        for name in BESIDE:
            found = importlib.import_module(name)
            place = Path(found.__file__ or "?").resolve()
            if place.parent != home / name:
                raise ImportError(
                    f"{NEEDS_OWN} '{name}', but {place} was imported under that name "
                    "before; rename that one, or write `import runner` above its import."
                )
    finally:
        sys.path.remove(str(home))


_import_ours()

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
