"""The pages themselves, from templates, and the folder that they are written to.

Imports the index and the content.
"""
