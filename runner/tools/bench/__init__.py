"""Speed and memory, measured against plain implementations: ``python -m runner.bench``."""
