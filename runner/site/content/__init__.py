"""What pages show, without markup: tables, charts, curves, pictures.

Imports the index.
"""
