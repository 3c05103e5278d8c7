"""How far the draws are from the target: divergences, MMD, mode coverage; one metric a file.

Imports `metrics.metric`, `metrics.requirements`, `metrics.two_sample` and `metrics.statistics`.
"""
