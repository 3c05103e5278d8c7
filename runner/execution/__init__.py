"""What any program on a cluster needs: errors, signals, progress, devices, manifests.

Imports `integrity`.
"""
