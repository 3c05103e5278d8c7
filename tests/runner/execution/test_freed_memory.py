"""Memory that was freed stays with the process: blocks that are made anew in a loop bring no new pages."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from runner.execution.memory import freed_memory

LOOP = """
import resource, torch
from runner.execution.memory.freed_memory import keep_freed_memory
torch.set_num_threads(1)
kept = {kept} and keep_freed_memory()
def turn():
    made = [torch.ones(15 * 2**18) for _ in range(3)]  # 15 MiB each
for _ in range(20):
    turn()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    turn()
print(kept, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def pages(kept: bool, variables: dict[str, str] | None = None) -> tuple[bool, int]:
    """Whether memory is kept, and how many pages 10 turns of a loop have asked for."""
    ran = subprocess.run(
        [sys.executable, "-c", LOOP.format(kept=kept)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(variables or {})},
    )
    said, count = ran.stdout.split()
    return said == "True", int(count)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have rules of their own")
def test_a_loop_asks_for_no_page_twice() -> None:
    kept, count = pages(kept=True)
    assert kept
    assert count < 1000, "10 turns of 11,520 pages"
    # What the C library's own rule does depends on the state of its heap.
    always_mapped = {"MALLOC_MMAP_THRESHOLD_": str(2**20)}
    assert pages(kept=False, variables=always_mapped)[1] > count + 100


def test_what_the_user_says_is_left_alone() -> None:
    assert pages(kept=True, variables={"MALLOC_TRIM_THRESHOLD_": "131072"})[0] is False


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freed_memory.sys, "platform", "darwin")
    assert not freed_memory.keep_freed_memory()
