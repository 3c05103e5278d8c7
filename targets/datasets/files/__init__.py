"""Where the files of a data set lie, how they are downloaded, and the formats they are written in.

For `targets.datasets` and `targets.tabular`.
"""
