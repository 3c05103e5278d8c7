"""The energy landscape at the visited states: flatness, local entropy, curvature; one metric a file.

Imports `metrics.metric`, `metrics.requirements` and `metrics.statistics`.
"""
