"""Files that are written whole or not at all, locks on them, checkpoints and plain YAML.

Also the two ways to do long work: `resumable` and `compute_once`. Imports `execution` and `integrity`.
"""
