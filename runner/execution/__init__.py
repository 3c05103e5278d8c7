"""What any program on a cluster needs: errors, signals, progress, devices, whole files, checkpoints.

Imports no other room of the runner.
"""
