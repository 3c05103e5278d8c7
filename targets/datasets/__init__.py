"""Binary images: one module with a loader per published set; `targets.datasets.files` finds and reads files.

Imports nothing else of `targets` but `targets.randomness`.
"""
