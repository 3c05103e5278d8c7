"""Binary images: one module per published set, each with a `load` that a YAML of `conf/dataset` names.

`targets.datasets.files` finds and reads files. Imports nothing else of `targets` but `targets.randomness`.
"""
