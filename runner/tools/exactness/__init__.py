"""Distance of every sampler from its target, by enumeration: ``python -m runner.exactness``."""
