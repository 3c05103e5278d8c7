"""The application. This folder holds the commands, each for ``python -m``; what they do is in its rooms."""
