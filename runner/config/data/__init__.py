"""From names of data sets, tables and tours to their files, which are verified before they are read.

Imports `execution` and `files`, and nothing of the configuration around it.
"""
