"""``python -m runner.exactness``: are the samplers exact; see `runner.tools.exactness.exactness_command`."""

import sys
from collections.abc import Sequence

from runner.execution.command_line import reported
from runner.tools.exactness import exactness_command


def main(argv: Sequence[str]) -> int:
    """The command line; exit status 2 for a mistake in the command."""
    return reported(lambda: exactness_command.main(argv))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
