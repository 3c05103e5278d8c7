"""What any program on a cluster needs: errors, signals, progress, devices, whole files, checkpoints.

Also the two ways to do long work: `resumable` and `compute_once`. Imports no other room of the runner.
"""
