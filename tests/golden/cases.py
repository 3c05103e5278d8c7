"""The cases: small runs that together pass through all samplers, targets, metrics and tasks.

They are listed in ``cases.yaml``. A case is one command of ``python -m runner``, or several that share an
output root. Commands use the keys that the README and ``conf/`` document. No case needs a data folder;
`tests.golden.files` writes the files that it reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Template

import yaml

from tests.golden.files import WRITERS

HERE = Path(__file__).parent
WORDS = "words"
"""The key of `cases.yaml` whose names stand for the words that many cases share."""


FITTING = ("task=autoencode", "task=classify")
"""The tasks that fit networks to images."""


@dataclass(frozen=True)
class Case:
    """A small computation whose numbers are kept.

    Attributes:
        name: ``group/name``; the group is the file in which its numbers are.
        commands: arguments of ``python -m runner``; ``{model}`` is the model that an earlier one made.
        permanent: whether it is part of the test that always runs.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    permanent: bool = False

    @property
    def group(self) -> str:
        """The file in which its numbers are."""
        return self.name.split("/")[0]

    @property
    def files(self) -> tuple[str, ...]:
        """The files of `tests.golden.files` that it reads."""
        return tuple(name for name in WRITERS if any(name in word for argv in self.commands for word in argv))

    @property
    def solved(self) -> bool:
        """Whether its numbers come from eigensolvers, which do not give the same bits each time."""
        return any("task=spectral_gap" in argv for argv in self.commands)

    @property
    def sensitive(self) -> bool:
        """Whether it fits networks to images, in which errors of rounding grow."""
        return any(word in FITTING for argv in self.commands for word in argv)

    @property
    def float64(self) -> bool:
        """Whether all of it is computed in float64, so that another machine gives nearly the same numbers."""
        return all("dtype=float64" in argv for argv in self.commands)


EXPERIMENTS = tuple(sorted(path.stem for path in (HERE.parents[1] / "conf" / "experiment").glob("*.yaml")))
"""Every experiment there is."""

SOLVED_EXPERIMENTS = ("reld_proposition1", "reld_theorem1")
"""Those whose runs are spectral gaps: computed in float64 whatever dtype is, see `Case.solved`."""

EXPERIMENT_GROUP = "experiments"


def is_solved(name: str) -> bool:
    """Whether the case or experiment of this name has its numbers from solvers of linear algebra."""
    group, _, own = name.partition("/")
    if group == EXPERIMENT_GROUP:
        return own in SOLVED_EXPERIMENTS
    return any(case.name == name and case.solved for case in CASES)


def is_sensitive(name: str) -> bool:
    """Whether errors of rounding grow in the case or experiment of this name.

    Of experiments those that are in float64 are meant: their gaps are down to 4e-8.
    """
    group, _, own = name.partition("/")
    if group == EXPERIMENT_GROUP:
        return own in SOLVED_EXPERIMENTS
    return any(case.name == name and case.sensitive for case in CASES)


def _cases() -> Iterator[Case]:
    """The cases in the order of the file."""
    groups = yaml.safe_load((HERE / "cases.yaml").read_text())
    words = groups.pop(WORDS)
    for group, kinds in groups.items():
        for kind, cases in kinds.items():
            for name, lines in cases.items():
                commands = tuple(
                    _command(line, words) for line in ([lines] if isinstance(lines, str) else lines)
                )
                yield Case(f"{group}/{name}", commands, permanent=kind == "always")


def _command(line: str, words: dict[str, str]) -> tuple[str, ...]:
    """The arguments of a line, in float64 unless it says otherwise."""
    while "$" in line:
        line = Template(line).substitute(words)
    argv = line.split()
    return tuple(argv if argv[-1].startswith("dtype=") else [*argv, "dtype=float64"])


CASES = tuple(_cases())
