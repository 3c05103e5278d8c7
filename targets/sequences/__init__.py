"""Posteriors of sequences: hidden states given observations, missing letters given the rest of a text.

Imports the modules of `targets` outside rooms only.
"""
