"""What a run does: one file or folder for each task.

Imports `problem` and everything below it.
"""
