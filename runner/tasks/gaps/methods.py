"""The methods of `spectral_gap` by name."""

KERNEL = "kernel"
DIFFUSIONS = ("ld", "reld", "mreld")
THEORY = ("proposition1", "barrier")
METHODS = (KERNEL, *DIFFUSIONS, *THEORY)
