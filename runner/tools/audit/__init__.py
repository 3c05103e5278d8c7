"""The defects of papers and released code, each measured again: ``python -m runner.audit``."""
