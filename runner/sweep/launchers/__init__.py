"""How jobs are handed to Hydra's launchers: their order, a GPU for each, what is done where workers are lost.

Imported by the rest of `sweep`.
"""
