"""Two-sample statistics: kernels on states, reference samples, and the distance between two samples.

Used by `metrics.discrepancy` and by the runner's reference samples; imports `metrics.mixing` for R-hat.
"""
