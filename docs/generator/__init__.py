"""Makes reference and result pages from conf/, docstrings and outputs/record/ whenever the site is built.

`hooks` is called by MkDocs; nothing outside this folder imports it but its tests.
"""
