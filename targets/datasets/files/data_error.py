"""What every reader of data raises."""


class DataError(ValueError):
    """A data set is missing, damaged or has the wrong format; the message is one sentence for the user."""
