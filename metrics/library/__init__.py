"""For use from Python without the runner: run chains, and look at their draws and diagnostics.

Imports kernels, targets and all other rooms of `metrics`.
"""
