"""What one trial of the robustness measurements ended in."""

from __future__ import annotations

from dataclasses import dataclass

OUTCOMES = ("clean", "lost", "doubled", "silent", "traceback")


@dataclass(frozen=True)
class Trial:
    """One thing that was broken on purpose, and what became of the sweep.

    Attributes:
        kind: what was broken, such as `joblib worker killed`.
        outcome: one of `OUTCOMES`. `clean`: every run is there once, with the right numbers, or the command
            said what is missing. `lost`: a finished run is gone, or repeating the command does not mend it.
            `doubled`: a run was computed or recorded twice. `silent`: something is wrong or missing and the
            command ended with status 0 and no word. `traceback`: the command ended in a traceback.
        said: the last sentences that the command printed.
    """

    kind: str
    outcome: str
    said: str

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise ValueError(f"outcome={self.outcome!r} is not one of {', '.join(OUTCOMES)}")
