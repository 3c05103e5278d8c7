"""What pages show, without markup: tables, charts, courses, pictures.

Imports the index.
"""
