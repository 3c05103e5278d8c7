"""Memory that was freed stays with the process, for the next step, instead of going back to the system.

Steps and metrics make arrays of one to some megabytes and free them. The C library of Linux gives such memory
back at once and asks for it again in the next step, page by page: a fifth of the time of a step of ACS on the
grid with 1,000 chains. By its own rule it stops that once a block of 32 MiB was freed; here it never begins.
"""

from __future__ import annotations

import ctypes
import os
import sys

LARGEST_BLOCK, KEPT = 32 * 2**20, 64 * 2**20
"""Bytes: of the largest block that may be kept, and of what is kept behind the last block in use."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's ``mallopt``, from ``malloc.h``."""

OWN_CHOICE = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")
"""Variables by which a user decides on this."""


def keep_freed_memory() -> bool:
    """Has the process keep what it frees; False with another C library, or where the user has decided."""
    if not sys.platform.startswith("linux") or any(name in os.environ for name in OWN_CHOICE):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST_BLOCK)) and bool(mallopt(M_TRIM_THRESHOLD, KEPT))
