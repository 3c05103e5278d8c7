"""Errors that the user can correct, each with a message of one sentence."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable

NEAR = 0.6
"""How similar a name must be to be suggested."""

LONGEST_VALUE = 160
"""Characters of a value that is shown whole."""

LONGEST_SENTENCE = 2000
"""Characters of a sentence: some list all the names that there are."""

LONG = f"{{{LONGEST_VALUE},}}"
VALUES = [
    re.compile(rf"\[.{LONG}\]|\{{.{LONG}\}}", re.DOTALL),
    re.compile(rf"'[^' ]{LONG}'|(?<![\w/.])\d{LONG}"),
]
"""Lists, groups, quoted words and numbers that are too long to be shown whole; no paths."""


class UserError(Exception):
    """A mistake in what was asked for; its message is one sentence and the exit status 2."""

    status = 2

    def __init__(self, sentence: str) -> None:
        super().__init__(shortened(sentence))


class UnservedError(UserError):
    """A target cannot serve the sampler or a metric that was asked for."""


class RunError(UserError):
    """A run that started and could not go on; the exit status is 1."""

    status = 1


class DivergenceError(RunError):
    """Numbers of a run became NaN, infinite or too large, as they will again where it is repeated."""


def one_sentence(error: BaseException) -> str:
    """The message of `error` on one line, or its type where it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def reason(error: BaseException) -> str:
    """`one_sentence` for a sentence that names the file: of an error of the system only what happened."""
    return (isinstance(error, OSError) and error.strerror) or one_sentence(error)


def shortened(sentence: str) -> str:
    """`sentence` with the middle of long values left out, and of all of it where it is still too long."""
    for value in VALUES:
        sentence = value.sub(lambda found: _without_middle(found[0], LONGEST_VALUE), sentence)
    return _without_middle(sentence, LONGEST_SENTENCE)


def _without_middle(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most // 2]} ... {text[-most // 4 :]}"


def warn(sentence: str) -> None:
    """Prints a warning of one sentence; the run goes on."""
    print(f"warning: {sentence}", file=sys.stderr)


def listed(names: Iterable[str]) -> str:
    """Names in alphabetical order, with commas."""
    return ", ".join(sorted(names)) or "nothing"


def counted(number: int, what: str) -> str:
    """``1 run`` or ``3 runs``."""
    return f"{number} {what}{'s' * (number != 1)}"


def nearest(name: str, allowed: Iterable[str]) -> str:
    """``did you mean 'x'?`` with the closest of `allowed`, preceded by a semicolon; or nothing."""
    if len(name) > LONGEST_VALUE:  # no name of ours, and the comparison takes the square of the length
        return ""
    scored = [(similarity(name, other), other) for other in allowed]
    score, closest = max(scored, default=(0.0, ""))
    return f"; did you mean '{closest}'?" if score >= NEAR else ""


def not_allowed(what: str, given: object, allowed: Iterable[str]) -> UserError:
    """``dtype must be float32 or float64, 'float' was given``, with the nearest; `what` is what must be."""
    return UserError(f"{what}, {given!r} was given{nearest(str(given), allowed) or '.'}")


def similarity(one: str, other: str) -> float:
    """How similar two names are, from 0 to 1; swapped letters are half a difference, capitals none."""
    one, other = one.casefold(), other.casefold()
    in_order = difflib.SequenceMatcher(None, one, other).ratio()
    any_order = difflib.SequenceMatcher(None, sorted(one), sorted(other)).ratio()
    return (in_order + any_order) / 2


def unknown(what: str, name: str, allowed: Iterable[str]) -> UserError:
    """``Unknown target 'mgo'; did you mean 'mog'? Allowed: bernoulli4, mog, mos.``"""
    names = list(allowed)
    hint = nearest(name, names)
    return UserError(f"Unknown {what} '{name}'{hint or '.'} Allowed: {listed(names)}.")
