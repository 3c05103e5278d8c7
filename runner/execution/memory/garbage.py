"""The collector of garbage, which a command does without until all is imported.

What is imported stays, so that looking through it finds nothing: that took a quarter of the seconds in which
torch and SciPy are imported, and half a second when the process ended.
"""

from __future__ import annotations

import gc


def collect_once_imported() -> None:
    """Stops the collector until `imported`; for a command's own process alone, which ends soon."""
    gc.disable()


def imported() -> None:
    """Starts the collector again and hides from it what is there now; nothing where it was not stopped."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
