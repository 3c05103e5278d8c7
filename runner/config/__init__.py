"""From a command line to a checked configuration; imports no torch.

Imports `execution` and `files`.
"""
