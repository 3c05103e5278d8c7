"""The keys of the logger for W&B: those of its file, of the documentation, and of ``rungwise sync``."""

from __future__ import annotations

import re
from pathlib import Path

import conf
from runner.files.plain_yaml import plain_yaml
from runner.sweep.sync_command import SETTINGS

PAGE = Path(__file__).parents[3] / "docs" / "running" / "wandb.md"
FILE = Path(conf.__path__[0]) / "logger" / "wandb.yaml"


def test_the_page_and_sync_have_the_keys_of_the_file() -> None:
    keys = set(plain_yaml(FILE.read_bytes())) - {"name", "_target_"}
    assert set(re.findall(r"^\| `logger\.(\w+)` \|", PAGE.read_text(), re.MULTILINE)) == keys
    # From the disk no use of the machine can be copied.
    assert set(SETTINGS) == keys - {"system"}


def test_each_key_has_a_comment() -> None:
    for line in FILE.read_text().splitlines()[3:]:
        assert "  # " in line, line
