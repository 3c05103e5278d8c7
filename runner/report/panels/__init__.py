"""The kinds of panels, one file each: `KINDS` in a module maps the name of a kind to a `PanelKind`.

A new kind is a new file here; `runner.report.panel_kinds` finds it. Imports `runner.report.figures`.
"""
