"""The runner from Python: chains in one call, parts by their names, whole runs.

``runner/__init__.pyi`` exports it; imports all rooms but the commands.
"""
