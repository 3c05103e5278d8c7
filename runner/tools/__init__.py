"""Tools beside the runs: the audit of papers and released code, exactness by enumeration, the bench.

Imports everything below it; only the commands import it.
"""
