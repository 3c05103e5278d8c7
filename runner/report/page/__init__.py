"""A table as a page: layout, footnotes, Markdown, LaTeX, terminal.

Imports `analysis`.
"""
