"""The defects of papers and released code, each as a function that measures it.

For `runner.tools.audit`.
"""
