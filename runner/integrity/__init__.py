"""Whether what is on disk is what was written, and by which source code: digests of files and of our code.

Imports nothing of ours.
"""
