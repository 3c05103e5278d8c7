"""How a command ends: what failed, what is left to other processes, what is gone; the exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from omegaconf import OmegaConf

from runner.execution.early_errors import stopped
from runner.execution.errors import warn
from runner.execution.signals import Interrupted
from runner.files.atomic_files import read_json
from runner.files.lock_holders import waited_for
from runner.store.run_folder import RunFolder
from runner.store.run_store import Store
from runner.sweep.jobs import Job, folders_of
from runner.sweep.launchers.other_ids import other_ids
from runner.sweep.outcome import Outcome, failures_in_words

SHOWN = 3
"""Other processes that are named."""

RARE = 0.01
"""Neighbouring replicas that swap less often do so hardly ever, however many steps there are."""

MORE_STEPS = "more steps (task.steps) would help"
MORE_REPLICAS = "two neighbours hardly ever swap, so that more replicas or a longer ladder would help"


def ended(jobs: Sequence[Job], outcome: Outcome) -> int:
    """Says what is not done, where anything is not; the exit status.

    A run that another process has ended meanwhile is done.
    """
    folders = {folder.run_id: folder for each in jobs for folder in folders_of(each)}
    if others := [run_id for run_id in (*outcome.done, *outcome.locked) if run_id not in folders]:
        store = Store(jobs[0].config.output_root)
        elsewhere = {run_id: store.run(run_id) for run_id in others}
        folders |= elsewhere
        warn(other_ids(jobs, list(elsewhere.values())))
    late = [run_id for run_id in outcome.locked if folders[run_id].is_done()]
    outcome.skipped += late
    outcome.locked = [run_id for run_id in outcome.locked if run_id not in late]
    if outcome.failures:
        print(failures_in_words(outcome.failures), file=sys.stderr)
    if outcome.locked:
        warn(_left([folders[run_id] for run_id in outcome.locked]))
    if short := _short(jobs, outcome):
        warn(short)
    gone = [run_id for run_id in outcome.done if not (folders[run_id].path / "summary.json").exists()]
    if gone:
        outcome.done = [run_id for run_id in outcome.done if run_id not in gone]
        print(
            f"error: {len(gone)} of the runs that were done are gone: {folders[gone[0]].path.parent} "
            "was removed meanwhile; repeat the command.",
            file=sys.stderr,
        )
    return 1 if gone else outcome.status


def swept(outcome: Outcome, status: int) -> int:
    """Prints what a sweep did in numbers, once all else is said; `status`, the exit status.

    Raises:
        Interrupted: if jobs were; where runs have failed, whose status is 1, it is printed.
    """
    print(outcome.sentence())
    if not outcome.interrupted:
        return status
    interrupted = Interrupted(" and ".join(outcome.interrupted))
    if status != 1:
        raise interrupted
    print(stopped(str(interrupted)), file=sys.stderr)
    return status


def _short(jobs: Sequence[Job], outcome: Outcome) -> str:
    """Says which of the runs that are done now are too short for their ladder of temperatures, if any is.

    That is where replicas made less than one round trip a chain, from cold to hot and back. With
    non-reversible swaps the K replicas together complete one in 2 + 2 Lambda swap rounds at best, in the long
    run (Syed et al. 2022), so that one of a replica takes K (2 + 2 Lambda) on average.
    """
    tempered, short = 0, list[tuple[float, str]]()
    for each in jobs:
        for folder in (one for one in folders_of(each) if one.run_id in outcome.done):
            summary = read_json(folder.path / "summary.json") or {}
            metrics = summary.get("metrics") or {}
            if metrics.get("round_trips") is None:
                continue
            tempered += 1
            trips, barrier = metrics["round_trips"] / int(each.config.task.chains), metrics.get("barrier")
            if trips < 1:
                pairing = OmegaConf.select(each.config, "sampler.swap.pairing")
                best = ""
                if barrier is not None and pairing == "odd_even":
                    rounds = summary["axes"][0] * (2 + 2 * barrier)
                    best = f", each of which takes a replica at least {rounds:.0f} swap rounds on average"
                whose = f"{summary['sampler']} on {summary['target']}"
                rate = metrics.get("swap_rate_min")
                advice = MORE_STEPS if rate is None or rate >= RARE else MORE_REPLICAS
                short.append((trips, f"{whose} made {trips:.2g} round trips a chain{best}; {advice}"))
    if not short:
        return ""
    runs = "The run is" if tempered == 1 else f"{len(short)} of {tempered} tempered runs are"
    worst = "" if len(short) == 1 else "the shortest, "
    return f"{runs} too short for the ladder: {worst}{min(short)[1]}."


def _left(folders: list[RunFolder]) -> str:
    """``2 runs are left to process 12 on node3 since ...; repeat the command when it has ended.``"""
    others = list(dict.fromkeys(waited_for(folder.lock.path) for folder in folders))
    more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    runs, it = ("1 run is", "it has") if len(folders) == 1 else (f"{len(folders)} runs are", "they have")
    whom = ", ".join(others[:SHOWN]) + more
    return f"{runs} left to {whom}, and not done yet; repeat the command when {it} ended."
