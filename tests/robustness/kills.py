"""Sweeps that are killed without warning, and repeated: every number must be there, once, as if never killed.

A process that has imported everything forks the command, which then takes tenths of a second. It is killed by
SIGKILL at a random instant, before a file-system event, or in the middle of a write, and repeated to its end;
in every third trial the repetition is killed as well. What of a file may differ from that of an undisturbed
sweep, such as its times, is said in `tests.corruption.trials`.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch

from runner.store.verification import ROOMS, verify
from runner.sweep.jobs import Job, jobs_of, requested
from tests.corruption.stores import DRAWS, LEARN, STATES, repeated
from tests.corruption.trials import results
from tests.robustness.shims.file_events import FileEvents
from tests.robustness.trial import Trial

INSTANT, EVENT, WRITE = "at a random instant", "before a file-system event", "in the middle of a write"
KINDS = (INSTANT, EVENT, WRITE)

SWEEPS = {
    "a tuned sampler, two seeds": (*STATES, "checkpoint.steps=40"),
    "an RBM, its reference sample, its draws": (*DRAWS, "checkpoint.steps=10"),
    "learning and annealing": (*LEARN, "checkpoint.steps=10"),
}
PATIENCE = 300.0
"""Seconds after which the repetition counts as hanging."""

Shim = Callable[[], object]


@dataclass
class Killed:
    """A small sweep that is killed again and again, each time from an empty folder.

    Attributes:
        folder: an empty folder, for the output root and what the command says.
        expected: the results of the sweep where nothing happens to it.
        events: file-system events, and flushed files among them, of such a sweep.
        seconds: that it takes; the latest one that ended counts.
    """

    command: tuple[str, ...]
    folder: Path
    job: Job = field(init=False)
    expected: str = field(init=False)
    events: dict[str, int] = field(init=False)
    seconds: float = field(init=False)

    def __post_init__(self) -> None:
        self.root, self.said = self.folder / "outputs", self.folder / "said.json"
        (self.job,) = jobs_of(requested([*self.command, f"output_root={self.root}"], multirun=False))
        # Here, so that children find everything imported; torch must not start threads before a fork.
        torch.set_num_threads(1)
        assert repeated(self.job) == (0, "")
        found = results(self.root)
        assert found is not None
        self.expected = found
        self.events = {kind: self._counted(0.5 if kind == WRITE else None) for kind in (EVENT, WRITE)}

    def trial(self, kind: str, chance: random.Random) -> Trial:
        """Kills the sweep once or twice, repeats it to its end, and judges what is there then."""
        named = f"killed {kind}"
        while True:
            shutil.rmtree(self.root, ignore_errors=True)
            if self._kill(kind, chance):
                break
        if chance.random() < 1 / 3:
            self._kill(kind, chance)
        finished = {path: path.read_bytes() for path in self.root.glob("runs/*/summary.json")}
        damaged = verify([self.root / room for room in ROOMS]).damaged
        status, said = self._to_its_end()
        return Trial(named, *self._judged(status, said, finished, list(damaged)))

    def _judged(
        self, status: int, said: str, finished: dict[Path, bytes], damaged: list[Path]
    ) -> tuple[str, str]:
        """The outcome, and why."""
        if "Traceback" in said:
            return "traceback", said
        if damaged:
            return "lost", f"the kill damaged {', '.join(map(str, damaged))}"
        if status or "warning" in said:
            return "lost", f"status {status}: {said}"
        for path, content in finished.items():
            if not path.exists() or path.read_bytes() != content:
                return "doubled", f"{path} was finished, and is another file now"
        found = results(self.root)
        expected = json.loads(self.expected)
        if found == self.expected:
            return "clean", said
        files = json.loads(found) if found is not None else {}
        if missing := sorted(set(expected) - set(files)):
            return "lost", f"{', '.join(missing)} are missing"
        more = [name for name in files if len(files[name]) > len(expected.get(name, ()))]
        return ("doubled", f"{more} have more in them") if more else ("silent", "other numbers, and no word")

    def _kill(self, kind: str, chance: random.Random) -> bool:
        """Whether the sweep was killed; it may have come to its end before."""
        if kind == INSTANT:
            started, process = time.monotonic(), self._fork(lambda: None)
            time.sleep(chance.uniform(0, self.seconds))
            os.kill(process, signal.SIGKILL)
            _, ended = os.waitpid(process, 0)
            if not os.WIFSIGNALED(ended):
                self.seconds = time.monotonic() - started
        else:
            last = chance.randint(1, self.events[kind])
            written = chance.random() if kind == WRITE else None
            _, ended = os.waitpid(self._fork(lambda: FileEvents(self.root, last, written)), 0)
        return os.WIFSIGNALED(ended) and os.WTERMSIG(ended) == signal.SIGKILL

    def _to_its_end(self) -> tuple[int, str]:
        """The exit status of the repeated command, and what it says."""
        self.said.unlink(missing_ok=True)
        process, deadline = self._fork(lambda: None), time.monotonic() + PATIENCE
        while os.waitpid(process, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                return 1, f"it hung for {PATIENCE:g} s"
            time.sleep(0.002)
        status, said = json.loads(self.said.read_text()) if self.said.exists() else (1, "it ended by itself")
        return int(status), str(said)

    def _counted(self, written: float | None) -> int:
        """Events of a sweep to which nothing happens."""
        shutil.rmtree(self.root)
        count, started = self.folder / "count", time.monotonic()
        made: list[FileEvents] = []

        def shim() -> None:
            made.append(FileEvents(self.root, None, written))

        os.waitpid(self._fork(shim, lambda: count.write_text(str(made[0].count))), 0)
        self.seconds = time.monotonic() - started
        assert results(self.root) == self.expected, "two sweeps in peace differ"
        return int(count.read_text())

    def _fork(self, shim: Shim, then: Shim = lambda: None) -> int:
        """The process id of a child that gives the command under a shim."""
        process = os.fork()
        if process:
            return process
        try:
            shim()
            ended = repeated(self.job)
            self.said.write_text(json.dumps(ended))
            then()
            os._exit(ended[0])
        except BaseException:
            self.said.write_text(json.dumps((1, traceback.format_exc())))
            os._exit(1)


def trials(number: int, kind: str, seed: int = 0) -> Iterator[Trial]:
    """So many trials of a kind, of all sweeps in turn."""
    with tempfile.TemporaryDirectory() as folder:
        sweeps = []
        for place, command in enumerate(SWEEPS.values()):
            (own := Path(folder) / str(place)).mkdir()
            sweeps.append(Killed(command, own))
        for trial in range(seed, seed + number):
            yield sweeps[trial % len(sweeps)].trial(kind, random.Random(f"{kind} {trial}"))
