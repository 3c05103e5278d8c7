"""Titles of workspaces: long ones end between two words, and keep what follows in brackets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runner.dashboards.shown import Shown, shown_runs
from tests.runner.report.figures.test_grid_figures import stored

pytest.importorskip("wandb_workspaces", reason="the extra dashboards is not installed")

from runner.dashboards.workspace import _title

KEYS = ("step_size", "auxiliary_step_size", "balancing", "precondition")


def shown(*keys: str) -> Shown:
    """A run, and for each of these settings of its sampler one with another value."""
    first = dict.fromkeys(keys, 1)
    return shown_runs([stored(**first), *(stored(**first | {key: 2}) for key in keys)], Path("outputs"))


def test_a_long_title_of_a_selection_ends_between_two_settings() -> None:
    """It ended in the middle of one."""
    title, _, runs = shown(*KEYS).title.partition(" (")
    assert title == "bernoulli4: dmala over sampler.step_size, ..."
    assert runs.startswith("5 runs, sweep ")
    short = shown("step_size").title
    assert short.startswith("bernoulli4: dmala over sampler.step_size (2 runs, ")


def test_a_long_title_of_an_experiment_keeps_its_scale() -> None:
    words = "PT-DLP Figure 4: samples, all chains started in the most likely mode, " + "and so on " * 5
    whole = replace(shown("step_size"), title=f"{words.strip()} (quick)")
    assert len(whole.title) > 100
    title = _title(whole)
    assert len(title) <= 100
    assert title.endswith(" so ... (quick)")
    assert _title(replace(whole, title="β of Table 1 (quick)")) == "β of Table 1 (quick)"


@pytest.mark.parametrize("title", ["x" * 150 + " (quick)", "Table (" + "y" * 120 + ")", "z" * 120])
def test_a_title_of_one_long_word_keeps_its_beginning(title: str) -> None:
    """It failed, or nothing was left of it."""
    found = _title(replace(shown("step_size"), title=title))
    assert len(found) <= 100
    assert found.startswith(title[:5])
