"""How far the draws are from the target: divergences, MMD, mode coverage; one metric a file.

Imports the contract, `two_sample` and `statistics`.
"""
