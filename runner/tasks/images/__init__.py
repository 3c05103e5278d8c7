"""The tasks that work on a sampler's images: autoencoders and classifiers, and what they share.

Imports the task `sample`.
"""
