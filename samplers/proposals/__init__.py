"""What kernels propose with: Langevin proposals, local moves and paths of them, jump processes.

Of `samplers` it imports `samplers.kernel` only.
"""
