"""Errors that the user can correct, each with a message of one sentence."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable

NEAR = 0.6
"""How similar a name must be to be suggested."""


class UserError(Exception):
    """A mistake in what was asked for; its message is one sentence and the exit status 2."""

    status = 2


class RunError(UserError):
    """A run that started and could not go on; the exit status is 1."""

    status = 1


def one_sentence(error: BaseException) -> str:
    """The message of `error` on one line, or its type where it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def warn(sentence: str) -> None:
    """Prints a warning of one sentence; the run goes on."""
    print(f"warning: {sentence}", file=sys.stderr)


def listed(names: Iterable[str]) -> str:
    """Names in alphabetical order, with commas."""
    return ", ".join(sorted(names)) or "nothing"


def nearest(name: str, allowed: Iterable[str]) -> str:
    """``did you mean 'x'?`` with the closest of `allowed`, preceded by a semicolon; or nothing."""
    scored = [(similarity(name, other), other) for other in allowed]
    score, closest = max(scored, default=(0.0, ""))
    return f"; did you mean '{closest}'?" if score >= NEAR else ""


def not_allowed(what: str, given: object, allowed: Iterable[str]) -> UserError:
    """``dtype must be float32 or float64, 'float' was given``, with the nearest; `what` is what must be."""
    return UserError(f"{what}, {given!r} was given{nearest(str(given), allowed) or '.'}")


def similarity(one: str, other: str) -> float:
    """How similar two names are, from 0 to 1; swapped letters count as half a difference."""
    in_order = difflib.SequenceMatcher(None, one, other).ratio()
    any_order = difflib.SequenceMatcher(None, sorted(one), sorted(other)).ratio()
    return (in_order + any_order) / 2


def unknown(what: str, name: str, allowed: Iterable[str]) -> UserError:
    """``Unknown target 'mgo'; did you mean 'mog'? Allowed: bernoulli4, mog, mos.``"""
    names = list(allowed)
    hint = nearest(name, names)
    return UserError(f"Unknown {what} '{name}'{hint or '.'} Allowed: {listed(names)}.")
