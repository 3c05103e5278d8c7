"""``python -m runner.audit``: defects of papers and released code, see `runner.tools.audit.audit_command`."""

import sys
from collections.abc import Sequence

from runner.execution.command_line import reported
from runner.tools.audit import audit_command


def main(argv: Sequence[str]) -> int:
    """The command line; exit status 2 for a mistake in the command."""
    return reported(lambda: audit_command.main(argv))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
