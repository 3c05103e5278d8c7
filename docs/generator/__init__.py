"""Writes the reference and result pages of the site from conf/, docstrings and outputs/record/, at every build.

`hooks` is called by MkDocs; nothing outside this folder imports it but its tests.
"""
