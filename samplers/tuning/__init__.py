"""Numbers for kernels: from settings with ``auto`` in them, by `pilots` that are not recorded.

`configured` is the entry, `tunable` the contract. May import every other room of `samplers`; none imports it.
"""
