"""Configurations become jobs, jobs become finished runs, here or through a launcher.

Imports `tasks` and everything below it.
"""
