"""Two-sample statistics: kernels on states, reference samples, and the distance between two samples.

For `discrepancy`, and for the runner's reference samples.
"""
