"""Binary images: one module per published set, each with a `load` that a YAML of `conf/dataset` names.

`files` finds and reads what lies on disk. Imports nothing else of `targets` but `randomness`.
"""
