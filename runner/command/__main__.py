"""``python -m runner.command``: the command ``rungwise`` where it is not installed."""

import sys

from runner.command.subcommands import main

if __name__ == "__main__":
    sys.exit(main())
