"""Tables and figures: from the runs of an experiment to CSV, Markdown, LaTeX, PNG and PDF.

Imports `sweep` and everything below it, and runs nothing.
"""
