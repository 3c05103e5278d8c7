"""What values are called whose expectation is known in closed form."""


def expected(name: str) -> str:
    """What the expectation of the metric `name` is called where it is known in closed form."""
    return f"{name}_expected"
