"""Binary images: one module per published set, each with a `load` that a YAML of `conf/dataset` names.

`targets.datasets.files` finds and reads files. Of the rest of `targets` it imports
`targets.checks` and `targets.randomness` only.
"""
