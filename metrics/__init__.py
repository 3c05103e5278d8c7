"""What is measured on samples and models.

The contract is in `metric`, `suite` and `requirements`. Imports `samplers` and `targets`; knows nothing of
files or configuration.
"""
