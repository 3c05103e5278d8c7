"""What there is to choose from: the names, keys and docstrings behind conf/, read without importing torch.

``rungwise list``, ``rungwise show``, completion and the reference pages are made from it. Imports `config`.
"""
