"""Mirrors of the results on disk; none is imported unless `logger=` names it."""
