"""Numbers for kernels: from settings with ``auto`` in them, by `pilots` that are not recorded.

`configured` is the entry, `tunable` the contract. Imports every other room of the floor; none imports it.
"""
