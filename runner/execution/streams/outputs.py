"""Standard output and standard error whose reader, terminal or disk may be gone: the work goes on without."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress
from typing import Any, TextIO

from runner.execution.storage_errors import REASONS

READER_GONE = 128 + signal.SIGPIPE
"""Exit status of a command that is done, but whose output nobody read to its end: 141, as in a shell."""

NAMES = ("stdout", "stderr")


class _Output(io.FileIO):
    """A descriptor that after its first error takes all that is written to it, and writes it nowhere."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.terminal = self.isatty()  # one that is gone is none
        self.refused: OSError | None = None

    def write(self, data: Any, /) -> int:
        if self.refused is None:
            try:
                return super().write(data)
            except OSError as error:
                self.refused = error
        return memoryview(data).nbytes


# Module state: a process has one standard output.
_outputs: dict[str, _Output] = {}


def guard() -> None:
    """Makes printing never fail: by an output that refuses, is closed, or lacks a character.

    A character that the encoding of an output lacks becomes a question mark. Streams that are not those of
    the process, such as the ones of a notebook, are left alone.
    """
    for name in NAMES:
        stream = getattr(sys, name)
        if stream is None:
            # It takes the free descriptor, which the next file would get, and what C code prints with it.
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for the rest of the process
        elif stream is getattr(sys, f"__{name}__") and isinstance(stream, io.TextIOWrapper):
            with suppress(OSError):
                stream.flush()
            _outputs[name] = _Output(stream.fileno())
            setattr(sys, name, _guarded(stream, _outputs[name]))


def _guarded(stream: io.TextIOWrapper, output: _Output) -> TextIO:
    """`stream`, which writes to `output`; as Python sets it up, but for its errors."""
    errors = stream.errors or "strict"
    return io.TextIOWrapper(
        output if stream.write_through else io.BufferedWriter(output),
        encoding=stream.encoding,
        errors="replace" if errors in ("strict", "surrogateescape") else errors,
        newline="\n",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def status_with_output(status: int) -> int:
    """The exit status of a command that would end with `status`, once its standard output is written.

    It is that of the work, unless the work is done: `READER_GONE`, or 1 where the disk refused the output,
    which is said.
    """
    output = _outputs.get("stdout")
    if output is None or sys.stdout is None or sys.stdout.closed:
        return status
    sys.stdout.flush()
    refused = output.refused
    if refused is None:
        return status
    if isinstance(refused, BrokenPipeError):
        return status or READER_GONE
    if output.terminal:  # it is closed
        return status
    reason = REASONS.get(refused.errno or 0) or f"{refused.strerror}"
    print(
        f"error: {reason} to write standard output; all else is done, repeat the command to see it.",
        file=sys.stderr,
    )
    return status or 1
