"""Transition kernels, tempering around them, and the tuning of both.

The contract is in `kernel` and `metropolis_hastings`. Imports `targets` only; knows nothing of metrics, files
or configuration.
"""
