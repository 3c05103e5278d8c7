"""A verdict on every published number, from recorded tables alone.

Imports `report`'s shapes and everything below it, and no torch.
"""
