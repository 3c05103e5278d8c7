"""A small search, and what it says of its trials."""

from __future__ import annotations

SEARCH = [
    "-m",
    "hydra/sweeper=optuna",
    "target=bernoulli4",
    "sampler=dmala",
    "sampler.step_size=tag(log,interval(0.01,5))",
    "metric=[tv]",
    "seed=0,1",
    "scale=smoke",
    "task.steps=40",
    "task.chains=10",
]


def trials(said: str) -> list[str]:
    """What a search says of each trial that it computed, without its number."""
    return [line.split(": ", 1)[1] for line in said.splitlines() if line.startswith("trial ")]
