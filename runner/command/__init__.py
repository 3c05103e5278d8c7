"""The command ``rungwise``: which module does what a word says, and what the Tab key completes.

Imports the commands, and nothing imports it.
"""
