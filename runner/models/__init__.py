"""Trained models: recipes, files, and the training itself.

Imports `store`, `config`, `files` and `execution`.
"""
