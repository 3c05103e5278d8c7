"""Tables and figures: from the runs of an experiment to CSV, Markdown, LaTeX, PNG and PDF.

Imports `problem` and everything below it, and runs nothing.
"""
