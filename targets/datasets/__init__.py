"""Binary images: one module per published set, each with a `load`; `files` finds and reads what lies on disk.

Imports nothing else of `targets` but `randomness`.
"""
