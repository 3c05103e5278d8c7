"""The application. This folder holds the commands, each for ``python -m``; what they do is in its rooms.

``python -m`` looks into the current folder first. Our other packages are imported from beside this one here,
so that a ``conf.py`` or a folder ``metrics`` of the user's own is not taken for them.

``runner.load_runs`` gives the runs on disk as a frame. It is imported when it is first used.
"""

import importlib
import sys
from pathlib import Path

import lazy_loader

BESIDE = ("conf", "targets", "samplers", "metrics")


def _import_ours() -> None:
    home = str(Path(__file__).parents[1])
    sys.path.insert(0, home)
    try:
        for name in BESIDE:
            importlib.import_module(name)
    finally:
        sys.path.remove(home)


_import_ours()

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
