"""The error of a step that cannot be compiled; apart, since the rest of the room is slow to import."""


class NotCompiledError(ValueError):
    """A step cannot be compiled; the message says why, in half a sentence."""
