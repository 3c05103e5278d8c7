"""Results on disk: one folder a run, what lies in it, what identifies it, and the loggers that copy it.

Imports `files`, `execution` and `integrity`.
"""
