"""What the visited states look like: flatness, local entropy, curvature; one metric a file.

Imports the contract and `statistics`.
"""
