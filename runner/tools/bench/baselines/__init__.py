"""The same computations as one would write them in a script, for the bench to compare with.

For `runner.tools.bench`.
"""
