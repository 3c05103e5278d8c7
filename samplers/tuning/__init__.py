"""Numbers for kernels: step sizes and the cycle of ACS, from pilots that are not recorded.

Imports `samplers.kernel` only.
"""
