"""The application. This folder holds the commands, each for ``python -m``; what they do is in its rooms.

``runner.load_runs`` gives the runs on disk as a frame. It is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
